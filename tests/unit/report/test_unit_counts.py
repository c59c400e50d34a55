"""The number of units (such as dialogues) in a line of the summary."""

from __future__ import annotations

import pytest

from pytest_rageval.report.text.lines import in_units


@pytest.mark.parametrize(
    ("n", "facet", "text"),
    [
        (20, "dialogue", " in 20 dialogues"),
        (1, "document", " in 1 document"),
        (9, "category", " in 9 units of category"),
        (9, "topic_1", " in 9 units of topic_1"),
        (2, "unit", " in 2 units"),
        (3, "话题", " in 3 units of 话题"),
        (None, "", ""),
    ],
)
def test_units_are_named_after_their_facet_if_its_plural_is_known(n: int | None, facet: str, text: str) -> None:
    assert in_units(n, facet) == text
