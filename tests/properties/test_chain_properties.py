"""Laws of chain templates and their filters."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.model.case import Query
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.systems.chains.filters import FILTERS, Filter, Value
from pytest_rageval.systems.chains.system import build, read
from pytest_rageval.systems.chains.template import TemplateError, parse_template
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.testing import ScriptedLLM
from pytest_rageval.trace.collector import collecting
from pytest_rageval.trace.completing import complete_answer

TEXTS = st.text(st.sampled_from("{}|()[]\"'.ab1 \n\\问\x00\ud800") | st.characters(), max_size=30)
ARGUMENTS: dict[type, st.SearchStrategy[int | str]] = {
    int: st.integers(0, 10**9 - 1),
    str: st.text(min_size=1, max_size=5),
}


@st.composite
def _filters(draw: st.DrawFn) -> Filter:
    name = draw(st.sampled_from(sorted(FILTERS)))
    return Filter(name, tuple(draw(ARGUMENTS[kind]) for kind in FILTERS[name].types))


@given(TEXTS, TEXTS)
def test_any_value_is_rendered_unchanged(question: str, answer: str) -> None:
    values = {"question": question, "answer": answer}
    rendered = parse_template("<{question}|{answer}>").render(lambda variable: Value((values[variable.name],)))
    assert rendered == f"<{question}|{answer}>"


@given(st.lists(_filters(), max_size=5), st.lists(TEXTS, max_size=4), TEXTS)
def test_filters_accept_any_value(filters: list[Filter], parts: list[str], separator: str) -> None:
    value = Value(tuple(parts), separator)
    for each in filters:
        value = each.apply(value)
    assert isinstance(value.text, str)


@given(TEXTS)
def test_any_text_is_a_template_or_a_template_error(text: str) -> None:
    with suppress(TemplateError):
        assert parse_template(text).source == text


@given(TEXTS)
def test_doubled_braces_are_rendered_as_single_ones(text: str) -> None:
    doubled = text.replace("{", "{{").replace("}", "}}")
    assert parse_template(doubled).render(lambda variable: Value(())) == text


@given(st.text(st.sampled_from('{}[]:," 1'), max_size=40))
def test_a_text_without_doubled_braces_is_rendered_unchanged(text: str) -> None:
    if "{{" not in text and "}}" not in text:
        assert parse_template(text).render(lambda variable: Value(())) == text


@given(st.recursive(st.text(st.sampled_from(" 12问"), max_size=3), lambda inner: st.dictionaries(st.just(""), inner)))
def test_json_needs_no_doubling(value: object) -> None:
    text = json.dumps(value)
    assert parse_template(text).render(lambda variable: Value(())) == text


CHAIN = """
[[action]]
name = "a"
do = "generate"
prompt = '{{"q": "{question|line(1)}", "x": {}}'

[[action]]
name = "pages"
do = "retrieve"
query = '{a|strip|line(1)|first(40)}'

[[action]]
name = "b"
do = "generate"
prompt = "{pages|quote} {a.prompt} {pages.titles[1]|default('none')} {pages.ids} {a|last(9)|replace('a', '{a}')}"
"""


class _Pages:
    in_place = True

    def search(self, query: str, k: int) -> Ranking:
        return Ranking((ScoredPassage("p1", 1.0, f"about {query}", query),))


@given(TEXTS, TEXTS, TEXTS)
@settings(max_examples=60, deadline=None)
def test_a_chain_answers_any_question_with_any_replies(question: str, first: str, second: str) -> None:
    with TemporaryDirectory() as folder:
        (Path(folder) / "c.toml").write_text(CHAIN, encoding="utf-8")
        setup = SystemSetup(argument="c.toml", folders=(Path(folder),))
        options = read(setup)
    system: Any = build(SystemParts(retriever=_Pages(), llm=ScriptedLLM([first, second]), setup=setup), options)
    with collecting() as collector:
        answer = complete_answer(asyncio.run(system(Query(question))), collector)
    assert answer.text == second.encode("utf-8", "backslashreplace").decode()
    assert [step.kind for step in answer.trace] == ["completion", "retrieve", "completion", "end"]
    json.dumps([step.detail for step in answer.trace], allow_nan=False).encode()
