"""Values of the labels and scales that judges declare."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.judge_samples import POLITE, STARS

from pytest_rageval.judges.function import FunctionJudge
from pytest_rageval.judges.values import NUMBERS, Worth, worth_of

LABEL_VALUES = Worth({"full": 1, "half": 0.5, "none": 0, "wrong": 0, "aside": None})


@given(low=st.integers(-5, 5), steps=st.integers(1, 40), data=st.data())
def test_a_value_gives_back_its_step_of_the_scale(low: int, steps: int, data: st.DataObject) -> None:
    worth = Worth(scale=(low, low + steps))
    step = data.draw(st.integers(low, low + steps))
    value = worth.of(step)
    assert value is not None
    assert worth.having(value) == [step]
    assert worth.having(value + 0.5 / steps) == []
    assert value in worth.levels
    assert len(worth.levels) == steps + 1


def test_label_values_are_read_from_the_declaration() -> None:
    assert [LABEL_VALUES.of(word) for word in LABEL_VALUES.values] == [1, 0.5, 0, 0, None]
    assert LABEL_VALUES.levels == [0, 0.5, 1]
    assert (LABEL_VALUES.having(0), LABEL_VALUES.having(0.5), LABEL_VALUES.having(0.25)) == (
        ["none", "wrong"],
        ["half"],
        [],
    )
    with pytest.raises(ValueError, match="the label 'ful' has no value; did you mean 'full'"):
        LABEL_VALUES.of("ful")


def test_a_judge_declares_the_values_of_its_labels() -> None:
    assert worth_of(POLITE) == Worth(POLITE.values or {})
    assert worth_of(STARS) == Worth(scale=STARS.scale)
    assert worth_of(FunctionJudge("f", len)) == NUMBERS
    assert (NUMBERS.of(0.3), NUMBERS.levels) == (0.3, [])
