"""Projects with scripted models, and the requests to these models."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import Any

import pytest

import pytest_rageval.hooks.config.model_clients

# pytester removes the modules that a run imports first: a second run would mix two copies of a class.
import pytest_rageval.hooks.run.answering
import pytest_rageval.judges.scoring
import pytest_rageval.llm.backends.scripted
import pytest_rageval.llm.client.clients
import pytest_rageval.llm.recordings.cassettes
import pytest_rageval.metrics.judges.rgb_judged
import pytest_rageval.systems.closed_book  # noqa: F401
from support.codes import without_code
from support.projects.rag_project import Project, Row, Run

Requests = list[dict[str, Any]]

NOTED = """
    import json
    import os
    import pytest
    from pytest_rageval import Completion, ModelError, PromptedJudge, Usage, Verdict
    from pytest_rageval.testing import ScriptedLLM

    class Noted(ScriptedLLM):
        def __init__(self, name, replies, **more):
            super().__init__(replies, **more)
            self.name = name

        async def complete(self, messages, **params):
            asked = {"model": self.name, "messages": list(map(dict, messages)), "params": sorted(params)}
            with open("asked.jsonl", "a") as stream:
                stream.write(json.dumps(asked) + chr(10))
            return await super().complete(messages, **params)

    def verdict(label, reason="as it reads"):
        return json.dumps({"reason": reason, "label": label})
"""
"""The head of a conftest: a scripted model that also logs its requests."""

SAYS_WHAT_IT_IS_TOLD = """
    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: query.question.partition(" ")[2]
"""

JUDGE = """
    @pytest.fixture(scope="session")
    def rag_judge():
        return Noted("judge", {RULES}, usage=Usage(50, 5, 0.001))
"""

REJECTIONS = """{
    "> no idea": verdict("rejected", "it says it has no idea"),
    "> gibberish": "well, who knows",
    "> second time": "well, who knows",
    "": verdict("answered"),
}"""
"""Replies of the judge of rejections, by a text in the prompt."""


def judged(project: Project, rows: list[Row], test: str, more: str = "", rules: str = REJECTIONS) -> None:
    """Make a project whose judge is scripted; its system answers with the text after the question's first word."""
    project.data(rows)
    conftest(project, NOTED, SAYS_WHAT_IT_IS_TOLD, dedent(JUDGE).replace("{RULES}", rules), more)
    project.file("test_it.py", test)


def conftest(project: Project, *parts: str) -> None:
    """Write a conftest of parts, each with its own indentation."""
    project.file("conftest.py", "\n".join(map(dedent, parts)))


def asked_of(project: Project, model: str) -> Requests:
    """Return the requests to a model in their order, and delete the log."""
    path = project.path / "asked.jsonl"
    if not path.exists():
        return []
    requests = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.unlink()
    return [request for request in requests if request["model"] == model]


def contents(requests: Requests, role: str) -> list[str]:
    """Return the contents of all messages of a role."""
    return [m["content"] for request in requests for m in request["messages"] if m["role"] == role]


def values(run: Run, metric: str) -> dict[str, float | None]:
    """Return a metric's values by case id."""
    return {name: outcome["scores"][metric]["value"] for name, outcome in run.outcomes.items()}


def refused(project: Project, *args: str) -> str:
    """Run a session that must end with a usage error; return its one sentence."""
    run = project.run(*args)
    lines = [line for line in run.result.stderr.str().splitlines() if line.strip()]
    assert run.status == pytest.ExitCode.USAGE_ERROR, run.text
    assert len(lines) == 1, lines
    assert not (project.path / ".rageval").exists()
    return without_code(lines[0].removeprefix("ERROR: "))
