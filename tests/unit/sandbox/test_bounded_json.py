"""Values are converted to JSON values of bounded size and depth, or refused with a reason."""

from __future__ import annotations

import datetime
import decimal
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.sandbox.bounded_json import NotJsonError, to_bounded_json

MAX_BYTES = 1 << 20
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(VALUES)
def test_json_values_are_unchanged(value: Any) -> None:
    assert to_bounded_json(value, MAX_BYTES, 50) == value


@given(VALUES)
def test_the_limit_is_about_the_size_of_the_json(value: Any) -> None:
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    assert to_bounded_json(value, 4 * size, 50) == value
    with pytest.raises(NotJsonError, match="is larger than"):
        to_bounded_json([value, "x" * 4 * size], 4 * size, 50)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2,)), [1, [2]]),
        ({3, 1, 2}, [1, 2, 3]),
        (datetime.date(2020, 2, 29), "2020-02-29"),
        (datetime.timedelta(minutes=1), "0:01:00"),
        (decimal.Decimal("1.50"), "1.50"),
        ({1: "a", None: "b", False: "c"}, {"1": "a", "None": "b", "False": "c"}),
    ],
)
def test_python_types_become_the_nearest_json_type(value: object, expected: object) -> None:
    assert to_bounded_json(value, MAX_BYTES, 50) == expected


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (object(), "is not JSON but of the type object"),
        ([b"x"], "is not JSON but of the type bytes"),
        ({(1,): 2}, "has a key that is not text but of the type tuple"),
        (float("inf"), "holds inf, which is not JSON"),
        (1 << 14_001, "has an integer of more than 4,000 digits"),
        ("a" * MAX_BYTES, "is larger than 1 MiB"),
        ("\u6f22" * (MAX_BYTES // 2), "is larger than 1 MiB"),
        ([0] * MAX_BYTES, "is larger than 1 MiB"),
        ([[[[]]]], "is nested more than 3 deep"),
    ],
)
def test_a_value_that_is_not_json_or_too_large_is_refused_with_a_reason(value: object, problem: str) -> None:
    with pytest.raises(NotJsonError) as caught:
        to_bounded_json(value, MAX_BYTES, 3)
    assert str(caught.value) == problem


def test_a_list_that_holds_itself_is_nested_too_deep() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(NotJsonError, match="is nested more than 50 deep"):
        to_bounded_json(loop, MAX_BYTES, 50)
