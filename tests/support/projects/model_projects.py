"""Projects whose model is a server on the loopback, reached as a user's is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import filelock  # noqa: F401
import pytest

# pytester removes the modules that a run imports first: a second run would mix two copies of a class.
import pytest_rageval.engine.estimate
import pytest_rageval.hooks.config.model_clients
import pytest_rageval.hooks.run.answering
import pytest_rageval.llm.backends.litellm_backend
import pytest_rageval.llm.backends.openai_http
import pytest_rageval.llm.backends.scripted
import pytest_rageval.llm.budget
import pytest_rageval.llm.client.clients
import pytest_rageval.llm.recordings.cassettes
import pytest_rageval.systems.closed_book  # noqa: F401
from pytest_rageval.llm.backends.named_model import preload
from support.codes import without_code
from support.projects.rag_project import Project, Row, Run
from support.servers.openai_replies import last_user
from support.servers.openai_server import OpenAIServer

NO_PARAMS: Mapping[str, object] = MappingProxyType({})
FILE = "cassettes/model-openai--m.jsonl"
"""The recordings of the model that `asks` names."""

BLOCKED = """
    import sys

    class Blocked:
        def find_spec(self, name, path=None, target=None):
            if name == "litellm":
                raise ModuleNotFoundError("No module named 'litellm'", name="litellm")

    sys.meta_path.insert(0, Blocked())
"""
"""A conftest that hides litellm."""

KEY = "sk-loopback-0123456789abcdef"

PRICES = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.01}
"""Prices as params: the server counts words as tokens, so a question of `rows` costs about 0.16 dollars."""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl"{arguments})
    def test_it(rag):
        ...
"""

Params = Mapping[str, object]


def rows(*names: str, **more: object) -> list[Row]:
    """Return one record a name, with a passage that says where to find it."""
    return [
        {
            "id": name,
            "question": f"Where is {name}?",
            "answers": ["Paris"],
            "passages": [{"id": f"d-{name}", "text": f"{name} is in Paris.", "role": "positive"}],
            **more,
        }
        for name in names
    ]


def numbered(count: int) -> list[Row]:
    """Return that many records: q00, q01 and so on."""
    return rows(*(f"q{number:02}" for number in range(count)))


def asks(
    project: Project,
    base_url: str,
    records: Sequence[Row],
    *ini: str,
    arguments: str = 'metrics=["accuracy"]',
    params: Params = NO_PARAMS,
    model: str = "openai/m",
) -> None:
    """Make a project of one testbed that asks ``model`` at an address, with further lines of the ini."""
    all_params = {"api_base": base_url, "api_key": KEY, **params}
    lines = [f"    {name} = {value}" for name, value in all_params.items()]
    project.file("pytest.ini", "\n".join(["[pytest]", f"rag_model = {model}", "rag_model_params =", *lines, *ini]))
    project.data(records)
    project.file("test_it.py", TEST.replace("{arguments}", f", {arguments}" if arguments else ""))


def asked(server: OpenAIServer) -> list[str]:
    """Return the ids of the records that a server was asked about, in order."""
    return [question.partition("Where is ")[2].partition("?")[0] for question in map(last_user, bodies(server))]


def bodies(server: OpenAIServer) -> list[dict[str, Any]]:
    return [request.body for request in server.requests]


def recordings(project: Project, name: str = FILE) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.path / name).read_text(encoding="utf-8").splitlines()]


def refused(project: Project, *args: str) -> str:
    """Run a session that ends with one usage error before anything runs; return its sentence."""
    run = project.run(*args)
    assert (run.status, run.results) == (pytest.ExitCode.USAGE_ERROR, None), run.text
    (line,) = (line for line in run.result.stderr.lines if line.strip())
    return without_code(line.removeprefix("ERROR: "))


def table(run: Run) -> dict[tuple[str, str], list[str]]:
    """Return the rows of the table: (system, what is asked) -> the other cells."""
    lines = run.text.split(" rag: dry run ", 1)[1].splitlines()[3:]
    rows = [re.split(r"  +", line.strip()) for line in lines[: lines.index("")]]
    return {("all", "") if row[0] == "all" else (row[1], row[2]): row[1 if row[0] == "all" else 3 :] for row in rows}


def stop(server: OpenAIServer) -> None:
    """Clear the requests, and let every further request fail the test."""
    server.requests.clear()
    server.plan = lambda number, body: pytest.fail(f"asked: {body}")


@pytest.fixture(scope="session", autouse=True)
def loaded() -> None:
    """Load httpx and litellm before pytester lists the loaded modules: runs in this process then share them."""
    loading = preload([("openai/m", {}), ("hosted_vllm/m", {})])
    assert loading is not None
    loading.join()
