"""Requests of recordings: what is part of the key, masked secrets, and file names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.llm.recordings.cassettes import file_name
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.llm.secrets import mask, mask_json

MESSAGES = [{"role": "user", "content": "Who wrote it?"}]
SECRET = "sk-1234567890abcdef"  # noqa: S105 - not a real key


def ask(
    params: Mapping[str, Any] | None = None,
    messages: Any = MESSAGES,
    *,
    kind: str = "model",
    model: str = "openai/gpt-4o-mini",
    repeat: int = 1,
) -> Request:
    return Request(kind, model, params or {}, messages, repeat)


def test_a_key_is_stable_over_time_and_machines() -> None:
    assert ask({"temperature": 0}).key == "4b5f111e50dabff77887eba4343d2d9c"


def test_everything_that_affects_a_reply_changes_the_key() -> None:
    others = [
        ask({"temperature": 1}),
        ask({"temperature": False}),
        ask({"temperature": None}),
        ask(messages=[{"role": "system", "content": "Who wrote it?"}]),
        ask(messages=[{"role": "user", "content": "Who wrote it? "}]),
        ask(kind="judge"),
        ask(model="openai/gpt-4o"),
        ask(repeat=2),
    ]
    assert len({request.key for request in (ask(), *others)}) == len(others) + 1


def test_equivalent_requests_have_one_key() -> None:
    one = ask({"temperature": 0, "stop": ["a", "b"], "top_p": 0.5})
    other = ask({"top_p": 0.5, "stop": ("a", "b"), "temperature": 0.0}, ({"content": "Who wrote it?", "role": "user"},))
    assert one == other
    assert one.key == other.key


IGNORED_PARAMS = """
api_key api_base base_url api_version timeout headers extra_headers organization default_headers attempts deadline
input_cost_per_token output_cost_per_token aws_secret_access_key aws_access_key_id aws_session_token azure_ad_token
azure_ad_token_provider vertex_credentials API_KEY apikey hf_token client_secret password token api_token auth_token
aws_bedrock_runtime_endpoint watsonx_url sagemaker_base_url url ollama_host https_proxy proxies azure_endpoint apiBase
Authorization auth bearer x-api-key apiKey accessToken
"""


KEY_PARAMS = """
max_tokens max_completion_tokens maxTokens stop_token_ids stop_token eos_token bos_token pad_token top_k seed monkey
author curl ghost knowledge_base tokenizer logprobs response_format
"""


@pytest.mark.parametrize("name", IGNORED_PARAMS.split())
def test_address_and_transport_are_not_part_of_the_key(name: str) -> None:
    request = ask({name: object(), "temperature": 0})
    assert request.params == {"temperature": 0}
    assert request.key == ask({"temperature": 0}).key


@pytest.mark.parametrize("name", KEY_PARAMS.split())
def test_parameters_of_the_question_are_part_of_the_key(name: str) -> None:
    assert ask({name: 5}).params == {name: 5}


def test_extra_body_and_query_are_stripped_of_secrets() -> None:
    deep = {"guided_json": {"url": 1}, "apiKey": "k", "stages": [{"x-api-key": "k", "endpoint": "http://h", "top": 1}]}
    stripped = {"guided_json": {}, "stages": [{"top": 1}]}
    request = ask({"extra_body": deep, "extra_query": {"api-key": "k"}, "logit_bias": {"key": 1}})
    assert request.params == {"extra_body": stripped, "logit_bias": {"key": 1}}
    assert request.key == ask({"extra_body": stripped, "logit_bias": {"key": 1}}).key


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), object(), {1: 2}, b"x", {"deep": [object()]}])
def test_a_parameter_that_is_not_json_is_refused(bad: object) -> None:
    with pytest.raises(SettingError, match=r"the param 'stop' is or holds .* no JSON value"):
        ask({"stop": bad})


def test_a_secret_of_the_environment_is_masked_before_the_key_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [{"role": "user", "content": f"My key is {SECRET}."}]
    before = ask(messages=messages)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    after = ask({"user": SECRET}, messages)
    assert before.messages == messages
    assert after.messages == [{"role": "user", "content": "My key is <OPENAI_API_KEY>."}]
    assert after.params == {"user": "<OPENAI_API_KEY>"}
    assert after.key == ask({"user": "<OPENAI_API_KEY>"}, after.messages).key


def test_of_overlapping_secrets_the_longest_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "abcd-1234")
    monkeypatch.setenv("db_password", "abcd-1234-efgh")
    monkeypatch.setenv("CREDENTIAL_X", "X+(.*)[a-z]\\")
    assert mask("abcd-1234-efgh abcd-1234 X+(.*)[a-z]\\ abcd") == "<db_password> <MY_TOKEN> <CREDENTIAL_X> abcd"


def test_a_mask_is_never_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY_1", "secret-value-1")
    monkeypatch.setenv("OTHER_KEY", "API_KEY_1")
    assert mask("secret-value-1 API_KEY_1") == "<MY_API_KEY_1> <OTHER_KEY>"


@pytest.mark.parametrize(
    "value", ["short-1", "disabled", "PRODUCTION", "Retrieval", "16384000", "1,000,000", "-1234567.5"]
)
def test_a_plain_value_is_not_a_secret(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN_SETTING", value)
    assert mask(f"it is {value}.") == f"it is {value}."


def test_a_path_is_not_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path))
    assert mask(str(tmp_path)) == str(tmp_path)


def test_a_variable_with_another_name_is_not_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_GREETING", SECRET)
    assert mask(SECRET) == SECRET


def test_a_secret_is_found_anywhere_in_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_SECRET", SECRET)
    value = {"a": [SECRET, 1, None, {SECRET: (f"<{SECRET}>", True)}]}
    assert mask_json(value) == {"a": ["<X_SECRET>", 1, None, {"<X_SECRET>": ["<<X_SECRET>>", True]}]}


def test_a_file_is_named_after_its_model() -> None:
    assert file_name("model", "openai/gpt-4o-mini") == "model-openai--gpt-4o-mini.jsonl"
    assert file_name("judge", "ollama/llama3:8b") == "judge-ollama--llama3-8b~fd3fc2a9.jsonl"


def test_file_names_of_models_differ_by_more_than_case() -> None:
    models = ["a/b", "a--b", "a-b", "A/b", "a:b", "a b", "a-/b", "a/-b", "", "基金", "基", "..", "a\ud800", "x" * 300]
    models += ["x" * 301, file_name("model", "a:b").removeprefix("model-").removesuffix(".jsonl")]
    names = [file_name("model", model) for model in models]
    assert len({name.lower() for name in names}) == len(models)
    assert all(name.isascii() and len(name) < 130 and not set(name) & set('/\\:*?"<>| ') for name in names)
