"""Lines of ``rag_judges``; those that cannot be used are refused in a plugin test."""

from __future__ import annotations

import pytest

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
