"""Placeholders of templates are filled once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.text.placeholders import fill, placeholders


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("{a} and {b}", {"a": "1", "b": "2"}, "1 and 2"),
        ("{a}{b}", {"a": "{b}", "b": "{a}"}, "{b}{a}"),
        ("{a} {unknown} {0} {{a}} {}", {"a": "x"}, "x {unknown} {0} {x} {}"),
        ("[{number}] {title}\n{text}", {"number": "1", "title": "", "text": "t"}, "[1] t"),
        ('{"label": "{a}"}', {"a": r"\1 \g<0>"}, r'{"label": "\1 \g<0>"}'),
    ],
)
def test_placeholders_are_filled(template: str, values: dict[str, str], expected: str) -> None:
    assert fill(template, values) == expected


def test_placeholders_are_the_lower_case_names_in_braces() -> None:
    assert placeholders("{a} {b_c} {a} {B} {1} { d } {}") == {"a", "b_c"}


@given(st.text(min_size=1), st.text(min_size=1))
def test_braces_in_inserted_values_stay_unchanged(one: str, other: str) -> None:
    assert fill("<{one}|{other}>", {"one": one, "other": other}) == f"<{one}|{other}>"
