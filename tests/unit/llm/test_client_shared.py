"""Identical calls of a judge are asked once, even without recordings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.budget import Budget
from pytest_rageval.llm.client import reply_cache
from pytest_rageval.llm.client.clients import Client
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.reply_cache import ReplyCache
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.chat import Completion
from pytest_rageval.testing import ScriptedLLM

USAGE = Usage(10, 5, 0.25)


def judge(backend: ScriptedLLM, **settings: object) -> Client:
    defaults = {
        "name": "openai/j",
        "reply_cache": ReplyCache(),
        "limiter": Limiter(16),
        "retry": RetryPolicy(1),
    }
    return Client(backend, kind="judge", **{**defaults, **settings})  # type: ignore[arg-type]


async def ask(model: Client, text: str, meter: Meter, repeat: int = 1, **params: object) -> Completion:
    SCOPE.set(Scope(meter, repeat))
    return await model.complete([{"role": "user", "content": text}], **params)


def ask_concurrently(model: Client, texts: Sequence[str], meter: Meter) -> list[Completion | BaseException]:
    async def ask_all() -> list[Completion | BaseException]:
        return await asyncio.gather(*(ask(model, text, meter) for text in texts), return_exceptions=True)

    return asyncio.run(ask_all())


@pytest.mark.parametrize("delay_s", [0.0, 0.02])
def test_concurrent_identical_calls_share_one_reply_and_pay_once(delay_s: float) -> None:
    backend, meter = ScriptedLLM(["yes", "no"], usage=USAGE, delay_s=delay_s), Meter()
    replies = ask_concurrently(judge(backend), ["same", "same", "same", "other"], meter)
    assert [reply.text for reply in replies if isinstance(reply, Completion)] == ["yes", "yes", "yes", "no"]
    assert [reply.replayed for reply in replies if isinstance(reply, Completion)] == [False, True, True, False]
    assert len(backend.requests) == 2
    assert meter.calls == Calls(4, 2, 2, 40, 20, 1.0, 0.5)
    assert meter.keys == ()


def test_a_later_identical_call_gets_the_same_reply() -> None:
    backend, meter = ScriptedLLM(["yes"], usage=USAGE), Meter()
    model = judge(backend)
    first, second = (asyncio.run(ask(model, "same", meter)) for _ in range(2))
    assert (second.text, second.finish_reason, second.model) == (first.text, first.finish_reason, first.model)
    assert len(backend.requests) == 1


def test_a_shared_reply_needs_no_budget(tmp_path: Path) -> None:
    (tmp_path / "budget").touch()
    budget = Budget(0.3, tmp_path / "budget")
    backend = ScriptedLLM({"": "yes"}, usage=USAGE)
    model = judge(backend, budget=budget, max_cost=lambda *_: 0.25, params={"max_tokens": 5})
    assert [asyncio.run(ask(model, "same", Meter())).text for _ in range(9)] == ["yes"] * 9


@pytest.mark.parametrize("changes", [{"repeat": 2}, {"temperature": 1}])
def test_a_call_with_another_repeat_or_params_is_asked_again(changes: dict[str, int]) -> None:
    backend = ScriptedLLM(["yes", "no"])
    model = judge(backend)
    assert asyncio.run(ask(model, "same", Meter())).text == "yes"
    assert asyncio.run(ask(model, "same", Meter(), **changes)).text == "no"


def test_calls_that_waited_for_a_failed_call_are_asked_separately() -> None:
    backend = ScriptedLLM([ModelError("content_filter", "not this"), "yes", "no"], delay_s=0.01)
    first, *others = ask_concurrently(judge(backend), ["same"] * 3, Meter())
    assert isinstance(first, ModelError)
    assert [reply.text for reply in others if isinstance(reply, Completion)] == ["yes", "yes"]
    assert len(backend.requests) == 3


def test_calls_with_params_that_are_not_json_are_not_shared() -> None:
    backend = ScriptedLLM({"": "yes"})
    model = judge(backend)
    for _ in range(2):
        assert asyncio.run(ask(model, "same", Meter(), response_format=Completion)).text == "yes"
    assert len(backend.requests) == 2


def test_the_least_recently_used_reply_is_dropped_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_cache, "MAX_REPLIES", 2)
    backend = ScriptedLLM({"": "yes"})
    model = judge(backend)
    request_counts = []
    for text in ("old", "new", "old", "newest", "old", "new"):
        asyncio.run(ask(model, text, Meter()))
        request_counts.append(len(backend.requests))
    assert request_counts == [1, 2, 2, 3, 3, 4]


def test_a_model_without_stored_replies_is_always_asked() -> None:
    backend = ScriptedLLM(["yes", "no"])
    model = judge(backend, reply_cache=None)
    assert [asyncio.run(ask(model, "same", Meter())).text for _ in range(2)] == ["yes", "no"]
