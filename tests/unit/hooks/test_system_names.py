"""Lines of ``rag_systems`` and names of systems in options: parsing and refusals."""

from __future__ import annotations

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config.system_names import SystemName, check_names, model_of, named_system, parse_systems

REGISTERED = Catalog().systems


def test_a_line_names_a_system_its_model_and_its_options() -> None:
    systems = parse_systems([
        "mini: llm@openai/gpt-4o-mini",
        "local: llm@ollama/llama3:8b@q4",
        "mine: app.agent:answer; workflow=langgraph; model=gpt-4o",
    ])  # fmt: skip
    assert systems["mini"] == SystemName("mini", "llm", "openai/gpt-4o-mini", {})
    assert systems["local"].model == "ollama/llama3:8b@q4"  # the first @ separates
    assert systems["mine"] == SystemName("mine", "app.agent:answer", "", {"workflow": "langgraph", "model": "gpt-4o"})
    assert list(map(str, systems.values()))[::2] == [
        "llm@openai/gpt-4o-mini",
        "app.agent:answer; workflow=langgraph; model=gpt-4o",
    ]
    check_names(systems.values(), REGISTERED)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["llm@openai/gpt-4o"], "has the line 'llm@openai/gpt-4o'; write 'alias: name@model; option=value'"),
        (["a b: llm"], "has the line 'a b: llm'"),
        (["mini:"], "has the line 'mini:'"),
        (["a: llm", "a: llm@x"], "has two lines for 'a'; write one"),
        (["a: llm@"], "rag_systems: a names the system 'llm@'; write NAME or NAME@MODEL"),
        (["a: llm@m; steps"], "rag_systems: a has the option 'steps'; write option=value"),
        (["a: x:y; model=m; model=n"], "rag_systems: a gives 'model' twice; give it once"),
    ],
)
def test_a_malformed_line_is_refused(lines: list[str], message: str) -> None:
    with pytest.raises(SettingError) as error:
        parse_systems(lines)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("llm: llm@openai/m", "rag_systems has the alias 'llm', which is the name of a system; choose another alias"),
        ("a: llm@m; max_steps=8", "rag_systems: a has the option 'max_steps', and llm takes no options; remove it"),
        ("a: llm@m; workflow=x", "rag_systems: a has the option 'workflow', and llm takes no options; remove it"),
        ("a: app:f; steps=8", "'steps', and app:f takes only the labels workflow and model; remove it"),
        ("a: app:f@m", "rag_systems: a: app:f takes no model; to label its answers, write 'mine: app:f; model=m'"),
        ("a: extractive@m", "rag_systems: a: extractive asks no model; remove @m"),
    ],
)
def test_options_that_a_system_does_not_take_are_refused(line: str, message: str) -> None:
    with pytest.raises(SettingError) as error:
        check_names(parse_systems([line]).values(), REGISTERED)
    assert message in str(error.value)


def test_an_option_names_an_alias_a_system_or_a_system_with_a_model() -> None:
    systems = parse_systems(["mini: llm@openai/m"])

    def parse(text: str) -> SystemName:
        return named_system(text, "--rag-system", systems, REGISTERED)

    assert parse("mini") is systems["mini"]
    assert parse("extractive") == SystemName("extractive", "extractive")
    assert parse("closed_book@openai/m:x@y") == SystemName("closed_book@openai/m:x@y", "closed_book", "openai/m:x@y")
    assert parse("app.rag:answer") == SystemName("app.rag:answer", "app.rag:answer")
    assert [model_of(text, systems) for text in ("mini", "llm@a/b", "llm", "app:f")] == ["openai/m", "a/b", "", ""]
    with pytest.raises(SettingError, match=r"--rag-system: app:f takes no model; .*write 'mine: app:f; model=m'"):
        parse("app:f@m")
    with pytest.raises(SettingError, match=r"--rag-system names the system '@m'; write NAME or NAME@MODEL"):
        parse("@m")
