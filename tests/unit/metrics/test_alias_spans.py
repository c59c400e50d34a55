"""Where a text contains an alias, in the text as it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.metrics.shared.alias_spans import alias_spans
from pytest_rageval.metrics.shared.matching import fold, occurrences

WRITTEN = st.text("aB1 ,.-\n\u2009\u2212é\u0301ﬁß罗Ａｶﾞ½İΣ\u1112\u1161\u11ab", max_size=12)


@pytest.mark.parametrize(
    ("text", "alias", "found"),
    [
        ("It opens at 9:00.", "9:00", ["9:00"]),
        ("from\n 9:00", "from 9:00", ["from\n 9:00"]),
        ("PARIS, Ｐａｒｉｓ", "paris", ["PARIS", "Ｐａｒｉｓ"]),
        ("it cost 12,345.6 euros", "12345.6", ["12,345.6"]),
        ("e\u0301t\u00e9", "\u00e9", ["e\u0301", "\u00e9"]),
        ("在 罗 马 市", "罗马", ["罗 马"]),
        ("170 and 70", "70", ["70"]),
        ("1 000", "", []),
        ("1 000", " \n", []),
        ("a.b", "a?b", []),
    ],
)
def test_an_alias_is_found_as_written(text: str, alias: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in alias_spans(text, [alias])] == found


def test_aliases_that_overlap_are_one_place() -> None:
    text = "the United States of America"
    assert [text[start:end] for start, end in alias_spans(text, ["United States", "States of America", "the"])] == [
        "the",
        "United States of America",
    ]


@given(WRITTEN, WRITTEN)
def test_every_occurrence_has_a_place_that_folds_to_it(text: str, alias: str) -> None:
    found = alias_spans(text, [alias])
    assert bool(found) == (next(occurrences(text, alias), None) is not None)
    assert all(0 <= start < end <= len(text) for start, end in found)
    if found:
        assert fold(alias)[0] in fold(text[slice(*found[0])])
