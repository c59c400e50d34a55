"""Identical calls of a judge's, which are asked once where nothing is recorded."""

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


def judge(backend: ScriptedLLM, **more: object) -> Client:
    settings = {
        "name": "openai/j",
        "reply_cache": ReplyCache(),
        "limiter": Limiter(16),
        "retry": RetryPolicy(1),
        **more,
    }
    return Client(backend, kind="judge", **{**settings, **more})  # type: ignore[arg-type]


async def said(model: Client, text: str, meter: Meter, repeat: int = 1, **params: object) -> Completion:
    SCOPE.set(Scope(meter, repeat))
    return await model.complete([{"role": "user", "content": text}], **params)


def together(model: Client, texts: Sequence[str], meter: Meter) -> list[Completion | BaseException]:
    async def all_of() -> list[Completion | BaseException]:
        return await asyncio.gather(*(said(model, text, meter) for text in texts), return_exceptions=True)

    return asyncio.run(all_of())


@pytest.mark.parametrize("delay_s", [0.0, 0.02])
def test_calls_at_the_same_time_share_one_reply_and_pay_once(delay_s: float) -> None:
    backend, meter = ScriptedLLM(["yes", "no"], usage=USAGE, delay_s=delay_s), Meter()
    replies = together(judge(backend), ["same", "same", "same", "other"], meter)
    assert [reply.text for reply in replies if isinstance(reply, Completion)] == ["yes", "yes", "yes", "no"]
    assert [reply.replayed for reply in replies if isinstance(reply, Completion)] == [False, True, True, False]
    assert len(backend.requests) == 2
    assert meter.calls == Calls(4, 2, 2, 40, 20, 1.0, 0.5)
    assert meter.keys == ()


def test_a_call_later_has_the_reply_of_before() -> None:
    backend, meter = ScriptedLLM(["yes"], usage=USAGE), Meter()
    model = judge(backend)
    first, second = (asyncio.run(said(model, "same", meter)) for _ in range(2))
    assert (second.text, second.finish_reason, second.model) == (first.text, first.finish_reason, first.model)
    assert len(backend.requests) == 1


def test_a_shared_reply_takes_nothing_of_the_budget(tmp_path: Path) -> None:
    (tmp_path / "budget").touch()
    budget = Budget(0.3, tmp_path / "budget")
    backend = ScriptedLLM({"": "yes"}, usage=USAGE)
    model = judge(backend, budget=budget, max_cost=lambda *_: 0.25, params={"max_tokens": 5})
    assert [asyncio.run(said(model, "same", Meter())).text for _ in range(9)] == ["yes"] * 9


@pytest.mark.parametrize("more", [{"repeat": 2}, {"temperature": 1}])
def test_another_repeat_or_other_params_ask_again(more: dict[str, int]) -> None:
    backend = ScriptedLLM(["yes", "no"])
    model = judge(backend)
    assert asyncio.run(said(model, "same", Meter())).text == "yes"
    assert asyncio.run(said(model, "same", Meter(), **more)).text == "no"


def test_who_waited_for_a_call_that_failed_asks_for_itself() -> None:
    backend = ScriptedLLM([ModelError("content_filter", "not this"), "yes", "no"], delay_s=0.01)
    first, *waited = together(judge(backend), ["same"] * 3, Meter())
    assert isinstance(first, ModelError)
    assert [reply.text for reply in waited if isinstance(reply, Completion)] == ["yes", "yes"]
    assert len(backend.requests) == 3


def test_params_that_no_recording_could_hold_are_asked_with() -> None:
    backend = ScriptedLLM({"": "yes"})
    model = judge(backend)
    for _ in range(2):
        assert asyncio.run(said(model, "same", Meter(), response_format=Completion)).text == "yes"
    assert len(backend.requests) == 2


def test_the_last_requested_value_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_cache, "MAX_REPLIES", 2)
    backend = ScriptedLLM({"": "yes"})
    model = judge(backend)
    asked = []
    for text in ("old", "new", "old", "newest", "old", "new"):
        asyncio.run(said(model, text, Meter()))
        asked.append(len(backend.requests))
    assert asked == [1, 2, 2, 3, 3, 4]


def test_a_model_without_stored_replies_is_always_asked() -> None:
    backend = ScriptedLLM(["yes", "no"])
    model = judge(backend, reply_cache=None)
    assert [asyncio.run(said(model, "same", Meter())).text for _ in range(2)] == ["yes", "no"]
