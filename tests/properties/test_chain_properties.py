"""Laws of the templates of chains."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.systems.chains.filters import FILTERS, Filter, Value
from pytest_rageval.systems.chains.template import TemplateError, parse_template

TEXTS = st.text(st.sampled_from("{}|()[]\"'.ab1 \n\\问\x00\ud800") | st.characters(), max_size=30)
ARGUMENTS: dict[type, st.SearchStrategy[int | str]] = {
    int: st.integers(0, 10**9 - 1),
    str: st.text(min_size=1, max_size=5),
}


@st.composite
def _filters(draw: st.DrawFn) -> Filter:
    name = draw(st.sampled_from(sorted(FILTERS)))
    return Filter(name, tuple(draw(ARGUMENTS[kind]) for kind in FILTERS[name].takes))


@given(TEXTS, TEXTS)
def test_a_value_survives_whatever_it_holds(question: str, answer: str) -> None:
    values = {"question": question, "answer": answer}
    rendered = parse_template("<{question}|{answer}>").render(lambda variable: Value((values[variable.name],)))
    assert rendered == f"<{question}|{answer}>"


@given(st.lists(_filters(), max_size=5), st.lists(TEXTS, max_size=4), TEXTS)
def test_filters_are_total(filters: list[Filter], parts: list[str], separator: str) -> None:
    value = Value(tuple(parts), separator)
    for each in filters:
        value = each.apply(value)
    assert isinstance(value.text, str)


@given(TEXTS)
def test_any_text_is_a_template_or_a_template_error(text: str) -> None:
    with suppress(TemplateError):
        assert parse_template(text).source == text


@given(TEXTS)
def test_a_text_with_doubled_braces_gives_itself(text: str) -> None:
    doubled = text.replace("{", "{{").replace("}", "}}")
    assert parse_template(doubled).render(lambda variable: Value(())) == text


@given(st.text(st.sampled_from('{}[]:," 1'), max_size=40))
def test_without_doubled_braces_nothing_changes(text: str) -> None:
    if "{{" not in text and "}}" not in text:
        assert parse_template(text).render(lambda variable: Value(())) == text


@given(st.recursive(st.text(st.sampled_from(" 12问"), max_size=3), lambda inner: st.dictionaries(st.just(""), inner)))
def test_json_needs_no_doubling(value: object) -> None:
    text = json.dumps(value)
    assert parse_template(text).render(lambda variable: Value(())) == text
