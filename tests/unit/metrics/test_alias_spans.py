"""Alias spans: the positions of an alias in the original text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.metrics.shared.alias_spans import alias_spans
from pytest_rageval.metrics.shared.matching import fold, occurrences

TEXTS = st.text("aB1 ,.-\n\u2009\u2212é\u0301ﬁß罗Ａｶﾞ½İΣ\u1112\u1161\u11ab", max_size=12)


@pytest.mark.parametrize(
    ("text", "alias", "matches"),
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
def test_the_span_of_an_alias_covers_its_original_spelling(text: str, alias: str, matches: list[str]) -> None:
    assert [text[start:end] for start, end in alias_spans(text, [alias])] == matches


def test_overlapping_aliases_give_one_span() -> None:
    text = "the United States of America"
    assert [text[start:end] for start, end in alias_spans(text, ["United States", "States of America", "the"])] == [
        "the",
        "United States of America",
    ]


@given(TEXTS, TEXTS)
def test_an_alias_has_a_span_exactly_if_it_occurs_in_the_folded_text(text: str, alias: str) -> None:
    spans = alias_spans(text, [alias])
    assert bool(spans) == (next(occurrences(text, alias), None) is not None)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    if spans:
        assert fold(alias)[0] in fold(text[slice(*spans[0])])
