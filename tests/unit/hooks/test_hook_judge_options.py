"""Lines of ``rag_judges``; a plugin test covers most of the lines that are refused."""

from __future__ import annotations

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config.judge_panels import panels
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.judges.panel import Panel


def test_lines_name_models_and_options() -> None:
    assert panels([
        "tone: openai/gpt-4o-mini",
        "stars : a , b ; majority",
        "full: ollama/llama3:8b; swapped; repeat = 3",
        "wise: a, b, c; mean",
    ]) == {
        "tone": Panel(("openai/gpt-4o-mini",)),
        "stars": Panel(("a", "b"), "majority"),
        "full": Panel(("ollama/llama3:8b",), repeat=3, swapped=True),
        "wise": Panel(("a", "b", "c"), "mean"),
    }  # fmt: skip


def test_the_judge_fixture_is_not_a_litellm_model(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrag_judges =\n    tone: a, rag_judge\n    stars: b, a\n")
    options = Options(pytester.parseconfig())
    assert options.panelists == ["a", "b"]


def test_a_local_judge_decides_alone_or_escalates(pytester: pytest.Pytester) -> None:
    lines = ["tone: local:judges/tone", "stars: local:judges/stars, openai/gpt-4o; escalate = 0.8"]
    alone, cascade = panels(lines).values()
    assert (alone, alone.remote_models) == (Panel(("local:judges/tone",)), ())
    assert (cascade.remote_models, cascade.escalate) == (("openai/gpt-4o",), 0.8)
    assert panels(["stars: local:a, b; escalate=auto"])["stars"].escalate == "auto"
    pytester.makeini("[pytest]\nrag_judges = stars: local:a, b; escalate=auto\n")
    assert Options(pytester.parseconfig()).panelists == ["b"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("good: local:a; escalate=0.8", "has escalate=0.8 and 1 judge, 1 of them local; it needs two"),
        ("good: local:a, b, c; escalate=0.8", "has escalate=0.8 and 3 judges, 1 of them local; it needs two"),
        ("good: a, local:b; escalate=0.8", "it needs two, a local one and then a model"),
        ("good: a, b; escalate=0.8", "2 judges, 0 of them local; it needs two"),
        ("good: local:a, b; escalate=0.5", "has 'escalate=0.5'; write a number between 0.5 and 1, or escalate=auto"),
        ("good: local:a, b; escalate=1", "has 'escalate=1'; write a number between 0.5 and 1"),
        ("good: local:a, b; escalate=often", "has 'escalate=often'; write a number between 0.5 and 1"),
        ("good: local:a, b; escalate=0.8; majority", "has majority and escalate, which leaves no votes to count"),
        ("good: local:a; repeat=2", "has repeat=2, and local:a always gives the same verdict; remove it"),
        ("good: local:a, b; swapped", "has swapped, and local:a always gives the same verdict; remove it"),
    ],
)
def test_a_line_that_local_judges_do_not_support_is_refused(line: str, problem: str) -> None:
    with pytest.raises(SettingError) as error:
        panels([line])
    assert str(error.value).startswith("rag_judges: good ")
    assert problem in str(error.value)
