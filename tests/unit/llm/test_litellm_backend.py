"""What a model's reply becomes, and what reaches the provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from openai_server import OpenAIServer

from pytest_rageval.llm.backends.litellm_backend import LiteLLM
from pytest_rageval.model.chat import ChatModel, Completion

T = TypeVar("T")

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "one two three"}]


def used(model: str, use: Callable[[LiteLLM], Awaitable[T]]) -> T:
    """Use a backend on a loop of its own, and close it."""

    async def using() -> T:
        backend = LiteLLM(model)
        try:
            return await use(backend)
        finally:
            await backend.aclose()

    return asyncio.run(using())


def ask(server: OpenAIServer, model: str = "openai/gpt-4o-mini", **params: Any) -> Completion:
    params = {"api_base": server.base_url, "api_key": "sk-test", **params}
    return used(model, lambda backend: backend.complete(MESSAGES, **params))


def test_it_is_a_chat_model() -> None:
    assert isinstance(LiteLLM("openai/gpt-4o-mini"), ChatModel)


def test_a_reply_has_text_tokens_price_and_seconds(openai_server: OpenAIServer) -> None:
    openai_server.delay_s = 0.05

    completion = ask(openai_server)

    assert (completion.text, completion.finish_reason, completion.model) == ("one two three", "stop", "gpt-4o-mini")
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (5, 3)
    assert completion.usage.cost_usd == pytest.approx(5 * 0.15e-6 + 3 * 0.6e-6)
    assert completion.usage.latency_s is not None
    assert completion.usage.latency_s >= 0.05
    assert (completion.attempts, completion.replayed) == (1, False)


def test_an_unknown_price_is_none_and_a_given_one_counts(openai_server: OpenAIServer) -> None:
    assert ask(openai_server, "openai/of-our-own").usage.cost_usd is None
    assert ask(openai_server, "hosted_vllm/gpt-4o-mini").usage.cost_usd is None

    given = ask(openai_server, "openai/of-our-own", input_cost_per_token=0.1, output_cost_per_token=1.0)
    assert given.usage.cost_usd == pytest.approx(5 * 0.1 + 3 * 1.0)
    assert "input_cost_per_token" not in openai_server.requests[-1].body


def test_what_the_provider_read_from_its_cache_is_cheaper(openai_server: OpenAIServer) -> None:
    usage = {"prompt_tokens": 2000, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 2000}}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
    openai_server.reply = lambda body: {"id": "x", "model": "gpt-4o-mini", "choices": [choice], "usage": usage}

    cost = ask(openai_server).usage.cost_usd

    assert cost == pytest.approx(2000 * 0.075e-6 + 0.6e-6)


def test_a_reply_that_does_not_say_its_tokens_leaves_them_unknown(openai_server: OpenAIServer) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
    openai_server.reply = lambda body: {"id": "x", "model": "m", "choices": [choice]}

    for model in ("openai/gpt-4o-mini", "hosted_vllm/m"):
        usage = ask(openai_server, model).usage
        assert (usage.prompt_tokens, usage.completion_tokens, usage.cost_usd) == (None, None, None)


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "hosted_vllm/m"])
def test_messages_and_parameters_reach_the_provider_as_they_are(openai_server: OpenAIServer, model: str) -> None:
    messages = [{"role": "user", "content": "hi", "name": "ann", "of_our_own": "kept"}]
    params = {"temperature": 0, "seed": 7, "max_tokens": 5, "extra_headers": {"x-team": "rag"}}
    base = {"api_base": openai_server.base_url, "api_key": "sk-test", "timeout": 5}

    used(model, lambda backend: backend.complete(messages, **params, **base))

    seen = openai_server.requests[0]
    assert seen.body["messages"] == messages
    assert {name: seen.body.get(name) for name in ("temperature", "seed", "max_tokens")} == {
        "temperature": 0, "seed": 7, "max_tokens": 5,
    }  # fmt: skip
    assert seen.body.keys() == {"messages", "model", "temperature", "seed", "max_tokens"}
    assert seen.headers["authorization"] == "Bearer sk-test"
    assert seen.headers["x-team"] == "rag"


def test_a_parameter_that_a_model_does_not_take_is_left_out(openai_server: OpenAIServer) -> None:
    ask(openai_server, "openai/o3-mini", temperature=0)

    assert "temperature" not in openai_server.requests[0].body


def test_a_schema_is_asked_for_only_where_it_is_kept_to(openai_server: OpenAIServer) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"type": "object"}}}

    for model in ("openai/gpt-4o-mini", "openai/of-our-own", "hosted_vllm/m"):
        ask(openai_server, model, response_format=schema)

    assert [seen.body.get("response_format") for seen in openai_server.requests] == [schema, None, None]


def test_calls_overlap_and_keep_their_connections(openai_server: OpenAIServer) -> None:
    openai_server.delay_s = 0.2

    async def many(backend: LiteLLM) -> float:
        base = {"api_base": openai_server.base_url, "api_key": "sk-test"}
        await backend.complete(MESSAGES, **base)
        begun = time.perf_counter()
        await asyncio.gather(*(backend.complete(MESSAGES, **base) for _ in range(30)))
        return time.perf_counter() - begun

    assert used("openai/gpt-4o-mini", many) < 30 * 0.2 / 4
    assert openai_server.peak == 30


def test_a_callback_of_the_users_is_still_called(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_rageval.llm.backends.litellm_import import litellm

    told: list[str] = []

    async def tell(kwargs: dict[str, Any], reply: Any, start: object, end: object) -> None:
        told.append(kwargs["model"])

    monkeypatch.setattr(litellm(), "success_callback", [tell])
    monkeypatch.setattr(litellm(), "_async_success_callback", [])

    async def asked(backend: LiteLLM) -> None:
        await backend.complete(MESSAGES, api_base=openai_server.base_url, api_key="sk-test")
        for _ in range(100):
            if told:
                break
            await asyncio.sleep(0.02)

    used("openai/gpt-4o-mini", asked)
    assert told == ["gpt-4o-mini"]


def test_a_closed_backend_may_be_used_on_another_loop(openai_server: OpenAIServer) -> None:
    backend = LiteLLM("openai/gpt-4o-mini")

    async def once() -> str:
        completion = await backend.complete(MESSAGES, api_base=openai_server.base_url, api_key="sk-test")
        await backend.aclose()
        return completion.text

    assert [asyncio.run(once()) for _ in range(2)] == ["one two three"] * 2
