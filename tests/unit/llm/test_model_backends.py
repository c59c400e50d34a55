"""Model backends: completions made from replies, and requests that reach the provider."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from support.samples.backend_cases import Backend, each_backend, openai_backends, used
from support.servers.openai_server import OpenAIServer

from pytest_rageval.llm.backends.litellm_backend import LiteLLM
from pytest_rageval.model.chat import ChatModel, Completion, EmbeddingModel

MINI = "openai/gpt-4o-mini"
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "one two three"}]


def ask(backend: Backend, model: str, server: OpenAIServer, **params: Any) -> Completion:
    params = {"api_base": server.base_url, "api_key": "sk-test", **params}
    return used(backend, model, lambda client: client.complete(MESSAGES, **params))


@openai_backends
def test_a_backend_is_a_chat_model_and_an_embedding_model(backend: Backend) -> None:
    assert isinstance(backend("openai/gpt-4o-mini"), ChatModel)
    assert isinstance(backend("openai/gpt-4o-mini"), EmbeddingModel)


@openai_backends
def test_a_reply_has_text_tokens_price_and_seconds(openai_server: OpenAIServer, backend: Backend) -> None:
    openai_server.delay_s = 0.05

    completion = ask(backend, MINI, openai_server)

    assert (completion.text, completion.finish_reason, completion.model) == ("one two three", "stop", "gpt-4o-mini")
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (5, 3)
    assert completion.usage.cost_usd == pytest.approx(5 * 0.15e-6 + 3 * 0.6e-6)
    assert completion.usage.latency_s is not None
    assert completion.usage.latency_s >= 0.05
    assert (completion.attempts, completion.replayed) == (1, False)


@openai_backends
def test_an_unknown_price_is_none_unless_the_params_set_it(openai_server: OpenAIServer, backend: Backend) -> None:
    assert ask(backend, "openai/of-our-own", openai_server).usage.cost_usd is None

    completion = ask(backend, "openai/of-our-own", openai_server, input_cost_per_token=0.1, output_cost_per_token=1.0)
    assert completion.usage.cost_usd == pytest.approx(5 * 0.1 + 3 * 1.0)
    assert "input_cost_per_token" not in openai_server.requests[-1].body


@openai_backends
def test_cached_tokens_are_cheaper(openai_server: OpenAIServer, backend: Backend) -> None:
    usage = {"prompt_tokens": 2000, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 2000}}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
    openai_server.reply = lambda body: {"id": "x", "model": "gpt-4o-mini", "choices": [choice], "usage": usage}

    cost = ask(backend, MINI, openai_server).usage.cost_usd

    assert cost == pytest.approx(2000 * 0.075e-6 + 0.6e-6)


@each_backend
def test_a_reply_without_token_counts_has_unknown_usage(
    openai_server: OpenAIServer, backend: Backend, model: str
) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
    openai_server.reply = lambda body: {"id": "x", "model": "m", "choices": [choice]}

    usage = ask(backend, model, openai_server).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cost_usd) == (None, None, None)


@each_backend
def test_messages_and_parameters_reach_the_provider_unchanged(
    openai_server: OpenAIServer, backend: Backend, model: str
) -> None:
    messages = [{"role": "user", "content": "hi", "name": "ann", "of_our_own": "kept"}]
    params = {"temperature": 0, "seed": 7, "max_tokens": 5, "extra_headers": {"x-team": "rag"}}
    base = {"api_base": openai_server.base_url, "api_key": "sk-test", "timeout": 5}

    used(backend, model, lambda client: client.complete(messages, **params, **base))

    request = openai_server.requests[0]
    assert request.body["messages"] == messages
    assert {name: request.body.get(name) for name in ("temperature", "seed", "max_tokens")} == {
        "temperature": 0, "seed": 7, "max_tokens": 5,
    }  # fmt: skip
    assert request.body.keys() == {"messages", "model", "temperature", "seed", "max_tokens"}
    assert request.headers["authorization"] == "Bearer sk-test"
    assert request.headers["x-team"] == "rag"


def test_a_parameter_that_a_model_does_not_take_is_left_out(openai_server: OpenAIServer) -> None:
    ask(LiteLLM, "openai/o3-mini", openai_server, temperature=0)

    assert "temperature" not in openai_server.requests[0].body


@openai_backends
def test_a_schema_is_sent_only_to_models_that_support_it(openai_server: OpenAIServer, backend: Backend) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"type": "object"}}}

    for model in ("openai/gpt-4o-mini", "openai/of-our-own"):
        ask(backend, model, openai_server, response_format=schema)
    ask(LiteLLM, "hosted_vllm/m", openai_server, response_format=schema)

    assert [request.body.get("response_format") for request in openai_server.requests] == [schema, None, None]


@openai_backends
def test_calls_run_concurrently(openai_server: OpenAIServer, backend: Backend) -> None:
    openai_server.delay_s = 0.5

    async def many(client: Any) -> float:
        base = {"api_base": openai_server.base_url, "api_key": "sk-test"}
        await client.complete(MESSAGES, **base)
        start = time.perf_counter()
        await asyncio.gather(*(client.complete(MESSAGES, **base) for _ in range(30)))
        return time.perf_counter() - start

    assert used(backend, MINI, many) < 30 * 0.5 / 4
    assert openai_server.peak == 30


@openai_backends
def test_a_closed_backend_may_be_used_on_another_loop(openai_server: OpenAIServer, backend: Backend) -> None:
    client = backend(MINI)

    async def once() -> str:
        completion = await client.complete(MESSAGES, api_base=openai_server.base_url, api_key="sk-test")
        await client.aclose()
        return completion.text

    assert [asyncio.run(once()) for _ in range(2)] == ["one two three"] * 2
