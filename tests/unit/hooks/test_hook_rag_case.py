"""``rag_case`` has a signature and docstring for editors and type checkers, and is a pytest mark."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import get_args

import pytest
from mypy import api

from pytest_rageval import rag_case
from pytest_rageval.hooks.collect.markers import Ability, RagCase
from pytest_rageval.model.facets import ABILITIES
from pytest_rageval.testbeds.settings import ASSEMBLIES, HISTORIES, SETTINGS

ROOT = Path(__file__).parents[3]


def test_the_signature_has_every_setting() -> None:
    parameters = inspect.signature(rag_case).parameters
    more = [each.name for each in parameters.values() if each.kind is each.VAR_KEYWORD]
    assert sorted(set(parameters) - set(more)) == sorted(SETTINGS)
    assert more == ["more"]


def test_the_docstring_explains_every_setting() -> None:
    text = inspect.getdoc(RagCase.__call__) or ""
    assert all(f"\n    {name}: " in text for name in SETTINGS)


def test_the_annotations_list_the_choices_of_the_settings() -> None:
    assert get_args(Ability) == ABILITIES
    annotations = RagCase.__call__.__annotations__
    for name, choices in (("assembly", ASSEMBLIES), ("history", HISTORIES)):
        assert all(repr(choice) in annotations[name] for choice in choices)


def test_rag_case_is_a_pytest_mark() -> None:
    assert isinstance(rag_case, pytest.MarkDecorator)
    decorator = rag_case("jsonl:a", limit=3)
    assert decorator.mark == pytest.mark.rag_case("jsonl:a", limit=3).mark
    assert rag_case(limit=3)("jsonl:a").mark == decorator.mark
    assert rag_case.with_args("jsonl:a", limit=3).mark == decorator.mark
    assert [*pytest.param(1, marks=rag_case("jsonl:a")).marks] == [rag_case("jsonl:a")]

    def test() -> None: ...

    assert rag_case(test) is test  # type: ignore[arg-type, comparison-overlap]
    assert rag_case("jsonl:a")(test) is test
    assert [mark.args for mark in test.pytestmark] == [(), ("jsonl:a",)]  # type: ignore[attr-defined]

    @rag_case("jsonl:b")
    class Tests: ...

    assert [mark.args for mark in Tests.pytestmark] == [("jsonl:b",)]  # type: ignore[attr-defined]


RIGHT = """
@rag_case("rgb:a.json", ability="noise_robustness", noise_rate=[0, 0.4], passages=["retrieved", 5], topic="Funds")
@rag_case(dataset="jsonl:b.jsonl", metrics=["accuracy"], where={"topic": "Funds", "level": 2}, limit=3)
def test(rag: object) -> None: ...

@rag_case("jsonl:c.jsonl", gates="accuracy >= 1")
class Tests:
    pytestmark = [rag_case("jsonl:d.jsonl")]
"""
WRONG = {
    'rag_case("a", metrcs=["accuracy"])': 'Argument "metrcs" to "__call__" of "RagCase" has incompatible type',
    'rag_case("a", ability="noise_robustnes")': 'Argument "ability" to "__call__" of "RagCase"',
    'rag_case("a", limit="3")': 'Argument "limit" to "__call__" of "RagCase"',
    'rag_case("a", "b")': 'Too many positional arguments for "__call__" of "RagCase"',
}


def test_a_type_checker_finds_typos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "test_typed.py"
    file.write_text("\n".join(["from pytest_rageval import rag_case", *WRONG, RIGHT]), encoding="utf-8")
    monkeypatch.chdir(ROOT)
    output, _, _ = api.run([str(file), "--strict", "--config-file=", "--follow-imports=silent", "--no-error-summary"])
    errors = (line for line in output.splitlines() if ": error: " in line)
    lines = list({line.split(":")[1]: line for line in reversed(list(errors))}.values())[
        ::-1
    ]  # the first error of each line
    assert len(lines) == len(WRONG), output
    for at, (line, problem) in enumerate(zip(lines, WRONG.values(), strict=True), 2):
        assert f"test_typed.py:{at}: error: {problem}" in line
