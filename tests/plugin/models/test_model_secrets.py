"""Secrets in the replies of a model are masked."""

from __future__ import annotations

import pytest
from support.projects.model_projects import asks, loaded, rows  # noqa: F401
from support.projects.rag_project import Project
from support.servers.openai_server import OpenAIServer


def test_a_reply_with_a_key_scores_the_same_live_and_replayed(
    project: Project, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "desk-0123456789-abcdef"
    monkeypatch.setenv("DESK_API_KEY", key)
    openai_server.reply = f"Paris {key}"
    asks(project, openai_server.base_url, rows("a"), "rag_record_mode = once", arguments='metrics=["token_f1"]')
    live, replayed = project.run().outcomes["a"], project.run("--rag-record-mode=none").outcomes["a"]
    assert live["answer"]["text"] == "Paris <DESK_API_KEY>"
    assert (live["scores"], live["said"]) == (replayed["scores"], replayed["said"])
    assert len(openai_server.requests) == 1
