"""Named models: which calls use plain HTTP and which litellm, and that both give the same result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.samples.backend_cases import used
from support.servers.openai_server import OpenAIServer

from pytest_rageval.llm.backends.litellm_backend import LiteLLM
from pytest_rageval.llm.backends.litellm_import import litellm
from pytest_rageval.llm.backends.named_model import NamedModel, is_plain
from pytest_rageval.llm.backends.openai_http import OpenAIHTTP
from pytest_rageval.llm.backends.openai_protocol import CHAT, EMBEDDING
from pytest_rageval.llm.backends.prices import entry, entry_in_file
from pytest_rageval.llm.client.clients import Client, Embedder
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.model.chat import Completion

MINI = "openai/gpt-4o-mini"
MESSAGES = [{"role": "user", "content": "Where is Orsay?"}]


@pytest.mark.parametrize(
    "model",
    ["openai/gpt-4o-mini", "openai/gpt-4.1", "openai/of-our-own", "openai/Qwen/Qwen2.5-7B", "openai/gpt-oss-20b",
     "openai/text-embedding-3-small"],
)  # fmt: skip
def test_an_openai_compatible_model_is_asked_over_plain_http(model: str) -> None:
    assert is_plain(model, {"api_base": "http://localhost:8000/v1", "temperature": 0, "max_tokens": 5, "seed": None})


@pytest.mark.parametrize(
    "model",
    ["gpt-4o-mini", "anthropic/claude-x", "hosted_vllm/m", "openai/", "openai/o3-mini", "openai/gpt-5-mini",
     "openai/ft:gpt-4o-mini:org::id", "openai/responses/gpt-4o", "openai/gpt-4o-search-preview", "openai/gpt-audio",
     "openai/gpt-image-1", "openai/chat-latest"],
)  # fmt: skip
def test_models_whose_parameters_litellm_maps_are_not_plain(model: str) -> None:
    assert not is_plain(model, {})


@pytest.mark.parametrize(
    "name", ["top_k", "user", "custom_llm_provider", "mock_response", "reasoning_effort", "stream"]
)
def test_a_parameter_that_only_litellm_takes_is_left_to_litellm(name: str) -> None:
    assert not is_plain(MINI, {name: "x"})
    assert is_plain(MINI, {name: None})


def test_dimensions_are_plain_only_for_embeddings_that_support_them() -> None:
    assert is_plain("openai/text-embedding-3-small", {"dimensions": 4}, EMBEDDING)
    assert not is_plain("openai/of-our-own", {"dimensions": 4}, EMBEDDING)
    assert not is_plain("openai/text-embedding-3-small", {"dimensions": 4}, CHAT)


@pytest.mark.parametrize("name", ["SSL_VERIFY", "USE_LITELLM_PROXY"])
def test_a_call_goes_to_litellm_if_a_variable_is_set_that_only_litellm_reads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "false")
    assert not is_plain(MINI, {})


@pytest.mark.parametrize(
    "message",
    [{"role": "user", "content": [{"type": "text", "text": "hi"}]},
     {"role": "user", "content": "hi", "cache_control": {"type": "ephemeral"}}],
)  # fmt: skip
def test_a_message_that_litellm_rewrites_is_left_to_litellm(openai_server: OpenAIServer, message: Any) -> None:
    model = ask_once(openai_server, [message])
    assert (list(model._backends), len(openai_server.requests)) == ([False], 1)


def ask_once(server: OpenAIServer, messages: Any) -> NamedModel:
    """Ask a model once, close it and return it."""

    async def ask_and_close() -> NamedModel:
        model = NamedModel(MINI)
        await model.complete(messages, api_base=server.base_url, api_key="sk-test")
        await model.aclose()
        return model

    return asyncio.run(ask_and_close())


def test_a_litellm_callback_of_the_user_is_called(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    models: list[str] = []

    async def record_model(kwargs: dict[str, Any], reply: Any, start: object, end: object) -> None:
        models.append(kwargs["model"])

    async def ask_and_close() -> None:
        model = NamedModel(MINI)
        await model.complete(MESSAGES, api_base=openai_server.base_url, api_key="sk-test")
        for _ in range(100):
            if models:
                break
            await asyncio.sleep(0.02)
        await model.aclose()

    monkeypatch.setattr(litellm(), "success_callback", [record_model])
    monkeypatch.setattr(litellm(), "_async_success_callback", [])
    asyncio.run(ask_and_close())
    assert models == ["gpt-4o-mini"]


# Both backends give the same result


def reply(message: Mapping[str, Any], reason: str | None = "stop", **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    usage = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "gpt-4o-mini-2024-07-18",
            "choices": [choice], "usage": usage, **fields}  # fmt: skip


CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
CACHED = {"prompt_tokens": 2000, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1000}}
REPLIES = {
    "text": reply({"content": "In Paris."}),
    "cut off": reply({"content": "In"}, "length"),
    "empty": reply({"content": None}),
    "refusal": reply({"content": None, "refusal": "I will not answer that."}),
    "refusal beside a text": reply({"content": "In Paris.", "refusal": "No."}),
    "tool call": reply({"content": None, "tool_calls": [CALL]}, "tool_calls"),
    "tool call that says stop": reply({"content": None, "tool_calls": [CALL]}),
    "filtered": reply({"content": ""}, "content_filter"),
    "thoughts": reply({"content": "<think>Orsay is in Paris.</think>In Paris."}),
    "thoughts aside": reply({"content": "<think>x</think>In Paris.", "reasoning_content": "so it is"}),
    "a reason of its own": reply({"content": "In Paris."}, "eos_token"),
    "the reason of another API": reply({"content": "In Paris."}, "max_tokens"),
    "no reason": reply({"content": "In Paris."}, None),
    "no tokens": reply({"content": "In Paris."}, usage=None),
    "cached tokens": reply({"content": "In Paris."}, usage=CACHED),
    "an empty error": reply({"content": "In Paris."}, error={"message": "", "code": None}),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_is_the_same_by_both_backends(openai_server: OpenAIServer, name: str) -> None:
    openai_server.reply = lambda body: REPLIES[name]
    params: Any = {"api_base": openai_server.base_url, "api_key": "sk-test"}

    def fields(completion: Completion) -> tuple[object, ...]:
        usage = completion.usage
        cost = None if usage.cost_usd is None else pytest.approx(usage.cost_usd)
        text_fields = (completion.text, completion.finish_reason, completion.model, completion.refused)
        return (*text_fields, usage.prompt_tokens, usage.completion_tokens, cost)

    plain, other = (
        fields(used(backend, MINI, lambda client: client.complete(MESSAGES, **params)))
        for backend in (OpenAIHTTP, LiteLLM)
    )
    assert plain == other


PARAMS: dict[str, dict[str, Any]] = {
    "none": {},
    "chat": {"temperature": 0, "seed": 7, "max_tokens": 5, "stop": ["x"], "top_p": 0.5, "logit_bias": {"50256": -100}},
    "a tool choice without tools": {"tool_choice": "auto"},
    "a schema": {"response_format": {"type": "json_object"}},
    "extra": {"extra_body": {"guided_choice": ["a"]}, "extra_headers": {"x-team": "rag"}, "organization": "org-1"},
}  # fmt: skip


@pytest.mark.parametrize("name", PARAMS)
def test_a_request_is_the_same_by_both_backends(openai_server: OpenAIServer, name: str) -> None:
    params: Any = {"api_base": openai_server.base_url, "api_key": "sk-test", **PARAMS[name]}
    assert is_plain(MINI, params)
    for backend in (OpenAIHTTP, LiteLLM):
        used(backend, MINI, lambda client: client.complete(MESSAGES, **params))
    plain, other = openai_server.requests
    assert (plain.path, plain.body) == (other.path, other.body)
    for header in ("authorization", "openai-organization", "x-team", "content-type"):
        assert plain.headers.get(header) == other.headers.get(header)


def test_tools_are_sent_unchanged(openai_server: OpenAIServer) -> None:
    tools = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
    params: Any = {"api_base": openai_server.base_url, "api_key": "sk-test", "tools": tools, "tool_choice": "auto"}
    assert is_plain(MINI, params)
    used(OpenAIHTTP, MINI, lambda client: client.complete(MESSAGES, **params))
    (request,) = openai_server.requests
    assert (request.body["tools"], request.body["tool_choice"]) == (tools, "auto")


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
@pytest.mark.parametrize("backend", [OpenAIHTTP, LiteLLM], ids=["plain", "litellm"])
def test_address_key_and_organization_come_from_the_environment(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, backend: Any, variable: str
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, openai_server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    monkeypatch.setenv("OPENAI_ORGANIZATION", "org-9")
    used(backend, MINI, lambda client: client.complete(MESSAGES))
    (request,) = openai_server.requests
    assert request.headers["authorization"] == "Bearer sk-of-the-environment"
    assert request.headers["openai-organization"] == "org-9"


def test_recordings_are_the_same_bytes_by_both_backends(openai_server: OpenAIServer, tmp_path: Path) -> None:
    settings: Any = {"limiter": Limiter(4), "retry": RetryPolicy(1)}
    params = {"api_base": openai_server.base_url, "api_key": "sk-test", "temperature": 0, "max_tokens": 5}

    async def record(backend: Any, folder: Path) -> None:
        cassettes = Cassettes(folder, "once")
        chat, vectors = backend(MINI), backend("openai/text-embedding-3-small")
        client = Client(chat, name=MINI, params=params, cassettes=cassettes, **settings)
        await client.complete(MESSAGES)
        at = {name: params[name] for name in ("api_base", "api_key")}
        await Embedder(vectors, name="openai/text-embedding-3-small", params=at, cassettes=cassettes, **settings).embed(
            ["a b", "c"]
        )
        await chat.aclose()
        await vectors.aclose()
        cassettes.close()

    asyncio.run(record(OpenAIHTTP, tmp_path / "plain"))
    asyncio.run(record(LiteLLM, tmp_path / "litellm"))
    files = [{path.name: path.read_bytes() for path in (tmp_path / way).iterdir()} for way in ("plain", "litellm")]
    assert len(files[0]) == 2
    assert files[0] == files[1]


def test_the_price_map_read_from_its_file_equals_that_of_litellm() -> None:
    price_map = litellm().model_cost
    names = [name for name in price_map if "litellm_provider" in price_map[name]][::40]
    assert len(names) > 50
    assert {name: entry_in_file(name) for name in names} == {name: price_map[name] for name in names}


def test_a_schema_is_sent_to_the_same_models_as_by_litellm() -> None:
    price_map = litellm().model_cost
    names = [name for name, each in price_map.items() if each.get("litellm_provider") == "openai" and "/" not in name]
    plain = [f"openai/{name}" for name in names if is_plain(f"openai/{name}", {})]
    assert len(plain) > 20
    for model in plain:
        assert bool(entry(model).get("supports_response_schema")) == litellm().supports_response_schema(model=model)
