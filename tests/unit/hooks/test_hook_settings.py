"""Which settings reports tell: what decided answers and scores, and nothing that is a secret."""

from __future__ import annotations

import pytest

from pytest_rageval.hooks.config.settings import read_options
from pytest_rageval.hooks.prepare.run_settings import settings_of

MODEL = """
[pytest]
rag_model = openai/m
rag_model_params =
    max_tokens = 30
    api_key = s3cret-2
    api_base = http://s3cret-3
    user = s3cret-of-the-desk
rag_prompts = en: prompts.toml
rag_corpus = docs
rag_retriever = pgvector
rag_retriever_params =
    dsn = postgresql://me:s3cret-4@db
    table = passages
"""


def told(pytester: pytest.Pytester, *args: str) -> dict[str, str]:
    config = pytester.parseconfig("-p", "no:randomly", *args)
    return settings_of(config, read_options(config))


def test_settings_are_told_without_keys_and_addresses(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_API_KEY", "s3cret-of-the-desk")
    pytester.makefile(".ini", pytest=MODEL)
    pytester.makefile(".toml", prompts='system = "Answer."')
    settings = told(pytester, "--rag-seed", "7", "--rag-answers", "far/away/answers.jsonl")
    assert settings["rag_model"] == "openai/m"
    assert settings["rag_model_params"] == '{"max_tokens": 30, "temperature": 0, "user": "<DESK_API_KEY>"}'
    assert (settings["rag_retriever"], settings["rag_retriever_params"]) == ("pgvector", '{"table": "passages"}')
    assert (settings["rag_seed"], settings["rag_answers"]) == ("7", "answers.jsonl")
    assert "s3cret" not in str(settings)


def test_prompts_are_told_by_a_digest_that_changes_with_them(pytester: pytest.Pytester) -> None:
    pytester.makefile(".ini", pytest=MODEL)
    pytester.makefile(".toml", prompts='system = "Answer."')
    before = told(pytester)
    pytester.makefile(".toml", prompts='system = "Answer!"')
    after = told(pytester)
    assert {name for name in before if before[name] != after[name]} == {"rag_prompts.en"}
    assert len(before["rag_prompts.zh"]) == 16


def test_where_nothing_is_set_nothing_is_told(pytester: pytest.Pytester) -> None:
    assert told(pytester) == {}
