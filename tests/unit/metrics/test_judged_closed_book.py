from __future__ import annotations

from dataclasses import replace

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.closed_book import CLOSED_BOOK_ACCURACY
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Gold


@pytest.mark.parametrize(
    ("knew", "gold", "expected"),
    [
        ("It was Rome, in 1960.", slots(["Roma", "Rome"], "1960"), 1.0),
        ("It was Rome.", slots("Rome", "1960"), 0.0),
        ("", slots("Rome"), 0.0),
        ("Rome", (), "not_applicable: no_gold"),
        (None, slots("Rome"), "model_unavailable"),
        (None, (), "not_applicable: no_gold"),
    ],
)
def test_values_are_those_worked_by_hand(knew: str | None, gold: Gold, expected: float | str) -> None:
    of = replace(sample("The system says Rome, 1960.", gold), closed_book=None if knew is None else Answer(knew))
    assert value(CLOSED_BOOK_ACCURACY, of) == expected


def test_it_asks_for_the_closed_book_and_for_no_judge() -> None:
    assert CLOSED_BOOK_ACCURACY.closed_book
    assert CLOSED_BOOK_ACCURACY.judge is None
    assert CLOSED_BOOK_ACCURACY.binary
    assert CLOSED_BOOK_ACCURACY.higher_is_better
