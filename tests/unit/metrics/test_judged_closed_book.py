from __future__ import annotations

from dataclasses import replace

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.closed_book import CLOSED_BOOK_ACCURACY
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Gold


@pytest.mark.parametrize(
    ("closed_book_answer", "gold", "expected"),
    [
        ("It was Rome, in 1960.", slots(["Roma", "Rome"], "1960"), 1.0),
        ("It was Rome.", slots("Rome", "1960"), 0.0),
        ("", slots("Rome"), 0.0),
        ("Rome", (), "not_applicable: no_gold"),
        (None, slots("Rome"), "model_unavailable"),
        (None, (), "not_applicable: no_gold"),
    ],
)
def test_values_equal_those_computed_by_hand(closed_book_answer: str | None, gold: Gold, expected: float | str) -> None:
    with_closed_book = replace(
        sample("The system says Rome, 1960.", gold),
        closed_book=None if closed_book_answer is None else Answer(closed_book_answer),
    )
    assert value(CLOSED_BOOK_ACCURACY, with_closed_book) == expected


def test_the_metric_needs_a_closed_book_answer_and_no_judge() -> None:
    assert CLOSED_BOOK_ACCURACY.closed_book
    assert CLOSED_BOOK_ACCURACY.judge is None
    assert CLOSED_BOOK_ACCURACY.binary
    assert CLOSED_BOOK_ACCURACY.higher_is_better
