"""``NAME@MODEL``: each system has its own model, recordings, rate limiter and price."""

from __future__ import annotations

import os

from support.projects.model_projects import PRICES, asks, numbered, stop
from support.projects.rag_project import Project
from support.servers.openai_server import OpenAIServer

SYSTEMS = (
    "rag_record_mode = once",
    "rag_systems =",
    "    small: llm@openai/small",
    "    book: closed_book@openai/large",
)


def test_each_model_has_its_own_requests_and_recordings(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, numbered(3), *SYSTEMS, params=PRICES)
    names = ("llm", "small", "book", "closed_book@openai/small")
    args = [f"--rag-system={name}" for name in names]
    first = project.run(*args)
    assert first.status == 0, first.text
    facets_by_system = {each["system"]: each["facets"] for each in first.results["outcomes"]}
    assert {name: (facets["workflow"], facets["model"]) for name, facets in facets_by_system.items()} == {
        "llm": ("rag", "openai/m"),
        "small": ("rag", "openai/small"),
        "book": ("closed_book", "openai/large"),
        "closed_book@openai/small": ("closed_book", "openai/small"),
    }
    models = sorted({request.body["model"] for request in openai_server.requests})
    assert models == ["large", "m", "small"]
    assert sorted(os.listdir(project.path / "cassettes")) == [
        "model-openai--large.jsonl", "model-openai--m.jsonl", "model-openai--small.jsonl",
    ]  # fmt: skip
    assert first.results["run"]["settings"]["rag_systems"]

    stop(openai_server)
    again = project.run(*args)
    assert (again.status, openai_server.requests) == (0, [])
    rows = project.command("analyze", "deployment").stdout
    assert "answers replayed; their time is not measured" in rows


def test_the_dry_run_names_each_model(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, numbered(3), *SYSTEMS, params=PRICES)
    run = project.run("--rag-system=small", "--rag-system=book", "--rag-dry-run")
    run.said("*small*openai/small*", "*book*openai/large*")
    assert openai_server.requests == []
