"""Settings in reports: all that decide answers and scores, but no secrets."""

from __future__ import annotations

import pytest

from pytest_rageval.hooks.config.options import Options
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


def report_settings(pytester: pytest.Pytester, *args: str) -> dict[str, str]:
    return settings_of(Options(pytester.parseconfig(*args)))


def test_settings_in_reports_have_no_keys_and_addresses(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_API_KEY", "s3cret-of-the-desk")
    pytester.makefile(".ini", pytest=MODEL)
    pytester.makefile(".toml", prompts='system = "Answer."')
    settings = report_settings(pytester, "--rag-seed", "7", "--rag-answers", "far/away/answers.jsonl")
    assert settings["rag_model"] == "openai/m"
    assert settings["rag_model_params"] == '{"max_tokens": 30, "temperature": 0, "user": "<DESK_API_KEY>"}'
    assert (settings["rag_retriever"], settings["rag_retriever_params"]) == ("pgvector", '{"table": "passages"}')
    assert (settings["rag_seed"], settings["rag_answers"]) == ("7", "answers.jsonl")
    assert "s3cret" not in str(settings)


def test_a_retriever_without_a_corpus_is_reported(pytester: pytest.Pytester) -> None:
    pytester.makefile(".ini", pytest="[pytest]\nrag_retriever = opensearch\nrag_retriever_params =\n    index = docs\n")
    settings = report_settings(pytester)
    assert (settings["rag_retriever"], settings["rag_retriever_params"]) == ("opensearch", '{"index": "docs"}')
    assert "rag_chunking" not in settings


def test_reports_have_a_digest_of_each_prompt_file(pytester: pytest.Pytester) -> None:
    pytester.makefile(".ini", pytest=MODEL)
    pytester.makefile(".toml", prompts='system = "Answer."')
    before = report_settings(pytester)
    pytester.makefile(".toml", prompts='system = "Answer!"')
    after = report_settings(pytester)
    assert {name for name in before if before[name] != after[name]} == {"rag_prompts.en"}
    assert len(before["rag_prompts.zh"]) == 16


def test_reports_have_no_unset_settings(pytester: pytest.Pytester) -> None:
    assert report_settings(pytester) == {}
