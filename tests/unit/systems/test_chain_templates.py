"""Templates of chains: variables, fields, filters and braces."""

from __future__ import annotations

import json

import pytest

from pytest_rageval.systems.chains.filters import FILTERS, Value
from pytest_rageval.systems.chains.template import TemplateError, Variable, parse_template


def _render(template: str, **values: str | tuple[str, ...]) -> str:
    def value_of(variable: Variable) -> Value:
        value = values[variable.name]
        return Value((value,)) if isinstance(value, str) else Value(value, "; ")

    return parse_template(template).render(value_of)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{a|strip}", "Two lines\n\n here"),
        ("{a|lower|strip}", "two lines\n\n here"),
        ("{a|line(1)}", " Two lines"),
        ("{a|line(2)}", " here "),
        ("{a|line(3)}", ""),
        ("{a|line(0)}", ""),
        ("{a|first(4)}", " Two"),
        ("{a|first(0)}", ""),
        ("{a|last(5)}", "here "),
        ("{a|last(0)}", ""),
        ('{a|before("lines")}', " Two "),
        ('{a|after("lines")|strip}', "here"),
        ('{a|before("none")}', " Two lines\n\n here "),
        ('{a|after("none")}', ""),
        ('{a|replace("Two", "2")|line(1)|strip}', "2 lines"),
        ("{a|replace('lines', '')|line(1)|strip}", "Two"),
        ('{a|after("none")|default("x")}', "x"),
        ('{a|default("x")|strip|first(3)}', "Two"),
        ('{a | strip | after("\\n")|strip }', "here"),
        ("{a|strip|line(1)|quote}", "> Two lines"),
    ],
)
def test_filters_apply_from_left_to_right(template: str, text: str) -> None:
    assert _render(template, a=" Two lines\n\n here ") == text


def test_every_filter_is_used_above() -> None:
    assert {"strip", "lower", "line", "first", "last", "before", "after", "join", "replace", "default", "quote"} == {
        *FILTERS
    }


def test_first_and_last_count_characters_of_chinese() -> None:
    assert _render("{a|first(2)}{a|last(1)}", a="北京大学") == "北京学"


def test_a_list_is_joined_by_its_separator_or_by_the_filter() -> None:
    assert _render("{a}", a=("x", "y")) == "x; y"
    assert _render('{a|join(" / ")}', a=("x", "y")) == "x / y"
    assert _render('{a|lower|join(" / ")}', a=("X", "y")) == "x; y"  # after another filter it is one text
    assert _render('{a|join("\\n")|line(2)}', a=("x", "y")) == "y"
    assert _render('{a|join(", ")}', a="x") == "x"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ('{"a": {"b": [1, {"c": "{q}"}]}}', '{"a": {"b": [1, {"c": "Q"}]}}'),
        ('{{"a": "{q}"}}', '{"a": "Q"}'),
        ('{{"a": {{"b": {q}}}}}', '{"a": {"b": Q}}'),
        ("{{q}}", "{q}"),
        ("{{{q}}}", "{Q}"),
        ("{ q } {1} {} {_q} {}", "{ q } {1} {} {_q} {}"),
        ("if (a) { if (b) { {q} }}", "if (a) { if (b) { Q }}"),
        ("a }} b } c", "a } b } c"),
        ("{{ unclosed", "{ unclosed"),
        ('{"open": {{ {"x": 1} }}', '{"open": { {"x": 1} }'),
        ("", ""),
    ],
)
def test_braces_stay_unless_they_are_a_variable_or_doubled(template: str, text: str) -> None:
    assert _render(template, q="Q") == text


def test_a_prompt_in_the_shape_of_json_stays_json() -> None:
    prompt = json.dumps({"task": {"question": "{q}", "documents": [{"text": "{d}"}]}}, indent=1)
    assert json.loads(_render(prompt, q="who?", d="text")) == {
        "task": {"question": "who?", "documents": [{"text": "text"}]}
    }


def test_filled_in_values_are_not_parsed_as_templates() -> None:
    assert _render("{a} {b}", a="{b} {{x}} {b|lower}", b="{a}") == "{b} {{x}} {b|lower} {a}"


def test_a_variable_has_a_field_an_index_and_filters() -> None:
    (variable,) = parse_template('{found.titles[12]|before(", ")}').variables
    assert (variable.name, variable.field, variable.index) == ("found", "titles", 12)
    assert [each.name for each in variable.filters] == ["before"]
    assert variable.path == "found.titles[12]"


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{question", "is malformed"),
        ("{question:>10}", "is malformed"),
        ("{question!r}", "is malformed"),
        ("{found.titles[-1]}", "is malformed"),
        ("{found.titles[x]}", "is malformed"),
        ("{found.titles[" + "9" * 5000 + "]}", "is malformed"),
        ("{name: 1}", "{{ for a brace itself"),
        ("{q|stripp}", "unknown filter 'stripp'; did you mean 'strip'?"),
        ("{q|}", "after | comes the name of a filter"),
        ("{q|line}", "the filter line has the wrong arguments; write line(1)"),
        ("{q|line(-1)}", "the filter line has malformed arguments; write line(1)"),
        ('{q|line("1")}', "the filter line has the wrong arguments"),
        ("{q|strip(1)}", "the filter strip has the wrong arguments; write strip"),
        ("{q|before(x)}", 'the filter before has malformed arguments; write before("x")'),
        ('{q|before("")}', "with a text that is not empty"),
        ('{q|replace("", "x")}', "with a text that is not empty"),
        ('{q|replace("a")}', "the filter replace has the wrong arguments"),
        ('{q|before("x"', "the filter before has malformed arguments"),
    ],
)
def test_a_malformed_variable_is_reported_in_one_sentence(template: str, problem: str) -> None:
    with pytest.raises(TemplateError) as caught:
        parse_template(template)
    assert problem in caught.value.problem
