"""Preview of prompts before a run: known values are filled in, the others are named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.model.case import Passage, Query
from pytest_rageval.sandbox.protocol import ProgramResult
from pytest_rageval.systems.chains.chain_file import read_chain
from pytest_rageval.systems.chains.preview import preview

SEARCH = '[[action]]\nname = "found"\ndo = "retrieve"\n'


def evaluate(code: str, values: Mapping[str, Any]) -> ProgramResult:
    """Replace a sandbox: return the code and the values that it reads."""
    if code == "int(question)":
        return ProgramResult(error="ValueError: no")
    return ProgramResult(f"{code} of {dict(sorted(values.items()))}")


def texts(folder: Path, text: str, query: Query | None = None, **options: Any) -> dict[str, str]:
    """Return the joined texts of each action."""
    path = folder / "c.toml"
    path.write_text(text, encoding="utf-8")
    previews = preview(read_chain(path, "c.toml"), query or Query("who?"), evaluate, **options)
    return {each.action.name: " | ".join(f"{what}: {text}" for what, text in each.texts) for each in previews}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("{question|line(1)} {language}", "who? en"),
        ("{found}, {found.titles[0]|lower}", "<found>, <found.titles[0]>"),
        ("{found|first(2)|default('x')}", "<found>"),
        ("{found.prompt}", "who?"),
        ("<found> {{question}}", "<found> {question}"),
    ],
)
def test_a_prompt_is_filled_with_the_known_values(tmp_path: Path, prompt: str, expected: str) -> None:
    previews = texts(tmp_path, f'{SEARCH}[[action]]\nname = \'reply\'\ndo = \'generate\'\nprompt = """{prompt}"""\n')
    assert previews == {"found": "query: who?", "reply": f"user: {expected}"}


def test_a_template_with_only_known_variables_is_filled_in(tmp_path: Path) -> None:
    chain = """
[[action]]
name = "known"
do = "template"
text = "{question|before('?')}"

[[action]]
name = "reply"
do = "generate"
prompt = "{known}"

[[action]]
name = "unknown"
do = "template"
text = "{known}, {reply}"

[[action]]
name = "call"
do = "tool"
tool = "Search"
arguments = { title = "{unknown}", deep = ["{known}", 3] }
"""
    assert texts(tmp_path, chain) == {
        "known": "text: who",
        "reply": "user: who",
        "unknown": "text: who, <reply>",
        "call": 'arguments: {"title": "<unknown>", "deep": ["who", 3]}',
    }


def test_expressions_run_with_known_values_and_placeholders(tmp_path: Path) -> None:
    chain = SEARCH + "".join(
        f"[[action]]\nname = '{name}'\ndo = 'python'\nexpression = '{code}'\n"
        for name, code in {"a": "question", "b": "wiki_id_title", "c": "int(question)", "d": "a + c"}.items()
    )
    assert texts(tmp_path, chain) == {
        "found": "query: who?",
        "a": "value: question of {'question': 'who?'}",
        "b": "value: wiki_id_title of {'wiki_id_title': ['<found.titles>, <found.ids>', '']}",
        "c": "value: <ValueError: no>",
        "d": "value: a + c of {'a': \"question of {'question': 'who?'}\", 'c': '<c>'}",
    }


def test_supplied_passages_are_filled_in(tmp_path: Path) -> None:
    chain = SEARCH + "[[action]]\nname = 'reply'\ndo = 'generate'\nprompt = '{found} {found.ids}'\n"
    query = Query("who?", (Passage("p1", "One."), Passage("p2", "Two.")))
    assert texts(tmp_path, chain, query)["reply"] == "user: One.\n\nTwo. p1; p2"
    assert texts(tmp_path, chain, query, uses_supplied=False)["reply"] == "user: <found> <found.ids>"
