"""The chat client: retries, charges, recordings, budget and concurrent calls."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest
from support.servers.openai_server import OpenAIServer, shares

from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.errors import MissingDependencyError, ModelError, SystemContractError
from pytest_rageval.llm.backends.named_model import NamedModel
from pytest_rageval.llm.backends.prices import UNSET
from pytest_rageval.llm.budget import Budget
from pytest_rageval.llm.client.clients import Client
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RETRYABLE, RetryPolicy
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.chat import ChatModel, Completion, Message, ToolCall
from pytest_rageval.testing import Asked, ScriptedLLM

USAGE = Usage(10, 5, 0.25)
QUICK = RetryPolicy(base_s=0.001, cap_s=0.001)


def client(backend: ChatModel, **settings: object) -> Client:
    all_settings: dict[str, object] = {"name": "openai/m", "limiter": Limiter(16), "retry": QUICK, **settings}
    return Client(backend, **all_settings)  # type: ignore[arg-type]


def user(text: str) -> list[Message]:
    return [{"role": "user", "content": text}]


def ask(model: Client, text: str = "who?", meter: Meter | None = None, repeat: int = 1, **params: object) -> Completion:
    async def call() -> Completion:
        SCOPE.set(Scope(meter or Meter(), repeat))
        return await model.complete(user(text), **params)

    return asyncio.run(call())


def failure_of(model: Client, meter: Meter | None = None) -> ModelError:
    with pytest.raises(ModelError) as raised:
        ask(model, meter=meter)
    return raised.value


def error(kind: str) -> ModelError:
    return ModelError(kind, f"the provider says {kind}")


def test_the_client_returns_the_reply_of_its_backend() -> None:
    model = client(ScriptedLLM("me", usage=USAGE))
    assert isinstance(model, ChatModel)
    completion = ask(model)
    assert (completion.text, completion.attempts, completion.replayed) == ("me", 1, False)
    assert (completion.finish_reason, completion.model) == ("stop", "scripted")
    assert replace(completion.usage, latency_s=None) == USAGE


def test_params_of_a_call_override_those_of_the_client() -> None:
    backend = ScriptedLLM("me")
    ask(client(backend, params={"temperature": 0, "seed": 1}), seed=2, max_tokens=9)
    assert backend.requests == (Asked(tuple(user("who?")), {"temperature": 0, "seed": 2, "max_tokens": 9}),)


def test_a_call_is_charged_to_its_scope() -> None:
    meters, model = [Meter(), Meter()], client(ScriptedLLM("me", usage=USAGE))
    for meter in (meters[0], meters[1], meters[1]):
        ask(model, meter=meter)
    assert meters[0].calls == Calls(1, 0, 1, 10, 5, 0.25, 0.25)
    assert meters[1].calls == Calls(2, 0, 2, 20, 10, 0.5, 0.5)


def test_missing_usage_of_a_reply_is_charged_as_unknown() -> None:
    meter = Meter()
    ask(client(ScriptedLLM("me")), meter=meter)
    assert meter.calls == Calls(1, 0, 1, None, None, None, None)


def test_failed_attempts_are_retried_and_charged_as_one_call() -> None:
    meter = Meter()
    backend = ScriptedLLM([error("rate_limited"), error("truncated"), "me"], usage=USAGE)
    completion = ask(client(backend), meter=meter)
    assert (completion.text, completion.attempts) == ("me", 3)
    assert meter.calls == Calls(1, 0, 3, 10, 5, 0.25, 0.25)


def test_latency_is_that_of_the_successful_attempt() -> None:
    class Slow(ScriptedLLM):
        async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
            await asyncio.sleep(0.1 if len(self.requests) == 0 else 0.02)
            return await super().complete(messages, **params)

    latency = ask(client(Slow([error("timeout"), "me"]))).usage.latency_s
    assert latency is not None
    assert 0.015 < latency < 0.09


def test_a_latency_reported_by_the_backend_is_kept() -> None:
    assert ask(client(ScriptedLLM("me", usage=Usage(latency_s=7.5)))).usage.latency_s == 7.5


def test_a_failed_call_counts_its_attempts_and_costs_nothing() -> None:
    meter = Meter()
    raised = failure_of(client(ScriptedLLM({"": error("server_error")})), meter=meter)
    assert (raised.kind, raised.attempts) == ("server_error", 8)
    assert str(raised) == "the provider says server_error (tried 8 times)"
    assert meter.calls == Calls(1, 0, 8, 0, 0, 0.0, 0.0)


def test_an_exception_of_a_backend_is_raised_unchanged_and_charged() -> None:
    bug, meter = ZeroDivisionError("mine"), Meter()
    with pytest.raises(ZeroDivisionError) as raised:
        ask(client(ScriptedLLM({"": bug})), meter=meter)
    assert raised.value is bug
    assert meter.calls == Calls(1, 0, 1, 0, 0, 0.0, 0.0)


class RateLimitError(Exception):
    """An error like that of an HTTP client."""

    status_code = 429


def test_http_errors_of_a_custom_model_are_retried() -> None:
    meter = Meter()
    completion = ask(client(ScriptedLLM([RateLimitError(), TimeoutError(), "me"], usage=USAGE)), meter=meter)
    assert (completion.text, completion.attempts) == ("me", 3)
    assert meter.calls == Calls(1, 0, 3, 10, 5, 0.25, 0.25)
    raised = failure_of(client(ScriptedLLM({"": RateLimitError()}), retry=RetryPolicy(2, base_s=0.001)))
    assert (raised.kind, raised.attempts) == ("rate_limited", 2)
    assert str(raised).startswith("the model openai/m refused the call: too many requests; ")


def test_a_missing_library_is_reported_before_anything_is_sent(budget_file: Path) -> None:
    def raise_missing(*args: object) -> float:
        raise MissingDependencyError("asking a model", "llm")

    for model in (
        client(ScriptedLLM({"": MissingDependencyError("asking a model", "llm")})),
        client(ScriptedLLM("me"), budget=Budget(1.0, budget_file), max_cost=raise_missing),
    ):
        meter = Meter()
        with pytest.raises(SystemContractError, match=r"^asking a model needs .*pytest-rageval\[llm\]'$"):
            ask(model, meter=meter)
        assert meter.calls == Calls()


def test_a_backend_without_a_completion_is_reported() -> None:
    class Wrong:
        async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
            return "me"  # type: ignore[return-value]

    class Sync:
        def complete(self, messages: Sequence[Message], **params: object) -> Completion:
            return Completion("me")

    advice = r"; return a Completion from `async def complete\(messages, \*\*params\)`$"
    with pytest.raises(SystemContractError, match=r"^the model openai/m returned 'me'" + advice):
        ask(client(Wrong()))
    with pytest.raises(SystemContractError, match=r"^the model openai/m returned Completion\(text='me', .*" + advice):
        ask(client(Sync()))  # type: ignore[arg-type]
    with pytest.raises(SystemContractError, match=r"^the model openai/m returned Completion\(text=5, .*" + advice):
        ask(client(ScriptedLLM([Completion(5)])))  # type: ignore[arg-type]


def test_a_null_reply_with_tool_calls_is_an_empty_text() -> None:
    calls = (ToolCall("c1", "Search", "{}"),)
    reply = ask(client(ScriptedLLM([Completion(None, tool_calls=calls)])))  # type: ignore[arg-type]
    assert (reply.text, reply.tool_calls) == ("", calls)
    assert Completion("me", tool_calls=None).tool_calls == ()  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="finish reason stop"):
        ask(client(ScriptedLLM([Completion(None, finish_reason="stop")])))  # type: ignore[arg-type]


def test_an_impossible_usage_is_refused_and_not_charged() -> None:
    meter = Meter()
    for usage, part in (
        (Usage(1, 1, -100), r"cost_usd of -100"),
        (Usage(1, -1), r"completion_tokens of -1"),
        (Usage(1, 1, float("nan")), r"cost_usd of nan"),
        (Usage(latency_s=float("inf")), r"latency_s of inf"),
    ):
        with pytest.raises(
            SystemContractError, match=rf"^the model openai/m returned a {part}, wanted a finite number"
        ):
            ask(client(ScriptedLLM("me", usage=usage)), meter=meter)
    assert not meter.calls.cost_usd
    assert not meter.calls.completion_tokens


@pytest.mark.parametrize("kind", ["auth", "not_found"])
def test_the_first_refusal_before_any_reply_is_raised_again(kind: str) -> None:
    first = error(kind)
    model = client(ScriptedLLM([error("server_error"), first, error(kind), "me"]))
    assert str(failure_of(model)) == f"the provider says {kind} (tried twice)"
    assert str(failure_of(model)) == f"the provider says {kind}"
    assert (model.refused, model.succeeded) == (first, False)


def test_after_a_refusal_nothing_more_is_sent() -> None:
    meter, backend = Meter(), ScriptedLLM({"": error("auth")}, delay_s=0.01)
    model = client(backend, limiter=Limiter(4))

    async def calls() -> list[object]:
        SCOPE.set(Scope(meter))
        return await asyncio.gather(*(model.complete(user("who?")) for _ in range(50)), return_exceptions=True)

    raised = asyncio.run(calls())
    assert {(str(each), getattr(each, "kind", "")) for each in raised} == {("the provider says auth", "auth")}
    assert len(backend.requests) == meter.calls.attempts == meter.calls.calls == 4


def test_other_errors_and_refusals_after_a_reply_are_not_raised_again() -> None:
    model = client(ScriptedLLM([error("bad_request"), "me", error("auth")]))
    failure_of(model)
    assert (model.refused, model.succeeded) == (None, False)
    ask(model)
    failure_of(model)
    assert (model.refused, model.succeeded) == (None, True)


def test_closing_the_client_closes_its_backend() -> None:
    class Closing(ScriptedLLM):
        closed = 0

        async def aclose(self) -> None:
            self.closed += 1

    backend = Closing("me")
    asyncio.run(client(backend).close())
    asyncio.run(client(ScriptedLLM("me")).close())
    assert backend.closed == 1


# Cancelled calls


def calls_after_cancel(model: Client, after_s: float) -> Calls:
    async def call() -> None:
        SCOPE.set(Scope(meter))
        task = asyncio.create_task(model.complete(user("who?")))
        await asyncio.sleep(after_s)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    meter = Meter()
    asyncio.run(call())
    return meter.calls


def test_a_call_cancelled_in_flight_has_an_unknown_cost() -> None:
    backend = ScriptedLLM([error("timeout"), "late"], delay_s=0.1)
    calls = calls_after_cancel(client(backend), 0.15)
    assert calls.exact == Calls(1, 0, 2, None, None, None, None)
    assert calls.on_their_way == 1


def test_a_call_cancelled_after_its_reply_costs_what_the_reply_cost(budget_file: Path) -> None:
    class Replying:
        has_replied = False

        async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
            await asyncio.sleep(0)
            self.has_replied = True
            return Completion("me", USAGE)

    async def call() -> None:
        SCOPE.set(Scope(meter))
        task = asyncio.create_task(model.complete(user("who?")))
        while not backend.has_replied:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    backend, meter = Replying(), Meter()
    model = client(backend, budget=Budget(1.0, budget_file), max_cost=highest_price, params={"max_tokens": 500})
    asyncio.run(call())
    assert meter.calls == Calls(1, 0, 1, 10, 5, 0.25, 0.25)
    assert budget_state(budget_file) == (0.25, 0.0)


def test_a_call_cancelled_between_two_attempts_costs_nothing() -> None:
    backend = ScriptedLLM({"": ModelError("timeout", "slow", retry_after=60.0)})
    assert calls_after_cancel(client(backend), 0.05) == Calls(1, 0, 1, 0, 0, 0.0, 0.0)


def test_a_call_cancelled_before_it_was_sent_does_not_count() -> None:
    async def call() -> None:
        async with limiter.turn():
            task = asyncio.create_task(client(ScriptedLLM("me"), limiter=limiter).complete(user("who?")))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    limiter, meter = Limiter(1), Meter()
    token = SCOPE.set(Scope(meter))
    asyncio.run(call())
    SCOPE.reset(token)
    assert meter.calls == Calls()


# Recordings


def recording(folder: Path, backend: ChatModel, mode: str = "new_episodes", **settings: object) -> Client:
    return client(backend, cassettes=Cassettes(folder, mode), **settings)


def test_a_replay_reports_the_recorded_price_and_spends_nothing(tmp_path: Path) -> None:
    reply = Completion("me\n“é”", USAGE, "length", "m-2024", attempts=1)
    ask(recording(tmp_path, ScriptedLLM([error("timeout"), reply])))
    backend, meter = ScriptedLLM([]), Meter()
    model = recording(tmp_path, backend, "none")
    completion = ask(model, meter=meter)
    assert completion == replace(reply, attempts=0, replayed=True)
    assert meter.calls == Calls(1, 1, 0, 10, 5, 0.25, 0.0)
    assert (backend.requests, model.succeeded) == ((), False)


def test_the_meter_lists_the_keys_of_used_recordings(tmp_path: Path) -> None:
    live_meter, replay_meter = Meter(), Meter()
    for meter in (live_meter, replay_meter):
        model = recording(tmp_path, ScriptedLLM("me"))
        for text in ("b", "a", "b"):
            ask(model, text, meter)
    assert len(set(live_meter.keys)) == len(live_meter.keys) == 2
    assert replay_meter.keys == live_meter.keys
    assert (live_meter.calls.replayed, replay_meter.calls.replayed) == (1, 3)


def test_a_recording_depends_on_kind_params_and_repeat(tmp_path: Path) -> None:
    backend = ScriptedLLM([str(number) for number in range(5)])
    model = recording(tmp_path, backend, params={"seed": 1})
    judge = recording(tmp_path, backend, params={"seed": 1}, kind="judge")
    replies = [ask(model).text, ask(model, repeat=2).text, ask(model, seed=2).text, ask(judge).text]
    assert replies == ["0", "1", "2", "3"]
    assert [ask(model).text, ask(model, repeat=2).text, ask(model, seed=2).text, ask(judge).text] == replies


def test_address_and_transport_are_not_part_of_a_recording(tmp_path: Path) -> None:
    ask(recording(tmp_path, ScriptedLLM("me"), params={"api_base": "http://one", "api_key": "sk-1", "timeout": 3}))
    backend = ScriptedLLM([])
    assert ask(recording(tmp_path, backend, params={"api_base": "http://two", "timeout": 9})).text == "me"
    assert not any("http" in path.read_text() or "sk-1" in path.read_text() for path in tmp_path.iterdir())


@pytest.mark.parametrize(("mode", "replayed"), [("none", True), ("once", True), ("new_episodes", True), ("all", False)])
def test_replays_predicts_whether_the_client_would_replay_a_call(mode: str, replayed: bool, tmp_path: Path) -> None:
    ask(client(ScriptedLLM("me"), params={"seed": 1}, cassettes=Cassettes(tmp_path, "new_episodes")), "old", repeat=2)
    backend = ScriptedLLM("no")
    model = client(backend, params={"seed": 1}, cassettes=Cassettes(tmp_path, mode))
    assert model.replays(user("old"), 2) is replayed
    assert not model.replays(user("old"))
    assert not model.replays(user("new"), 2)
    assert not client(backend, params={"seed": 2}, cassettes=Cassettes(tmp_path, mode)).replays(user("old"), 2)
    assert not client(backend, params={"seed": 1}).replays(user("old"), 2)
    assert not backend.requests


def test_a_call_without_a_recording_is_an_error_and_is_not_charged(tmp_path: Path) -> None:
    backend, meter = ScriptedLLM("me"), Meter()
    raised = failure_of(recording(tmp_path, backend, "none"), meter=meter)
    assert (raised.kind, raised.attempts, backend.requests, meter.calls) == ("not_recorded", 0, (), Calls())


def test_a_failed_call_is_not_recorded(tmp_path: Path) -> None:
    failure_of(recording(tmp_path, ScriptedLLM([error("bad_request")])))
    assert list(tmp_path.glob("*.jsonl")) == []


def test_recording_the_same_calls_again_changes_no_byte(tmp_path: Path) -> None:
    files = []
    for name, texts in (("one", "abc"), ("two", "cab")):
        cassettes = Cassettes(tmp_path / name, "all")
        model = client(ScriptedLLM(lambda messages: messages[-1]["content"] * 2, usage=USAGE), cassettes=cassettes)
        for text in texts:
            ask(model, text)
        cassettes.close()
        files.append({path.name: path.read_bytes() for path in cassettes.folder.iterdir()})
    assert files[0] == files[1]
    assert len(files[0]) == 1


class VaryingModel(ScriptedLLM):
    """Gives a different reply each time, after a short delay."""

    def __init__(self, *first: str | Exception) -> None:
        replies = iter((*first, *"abcdefgh"))
        super().__init__(lambda messages: next(replies), usage=USAGE, delay_s=0.02)


def call_concurrently(model: Client, meters: Sequence[Meter], cancel_first: bool = False) -> list[str]:
    """Return the replies to identical concurrent calls, or the names of their errors."""

    async def call(meter: Meter) -> str:
        SCOPE.set(Scope(meter))
        return (await model.complete(user("who?"))).text

    async def calls() -> list[str]:
        tasks = [asyncio.create_task(call(meter)) for meter in meters]
        await asyncio.sleep(0.01)
        if cancel_first:
            tasks[0].cancel()
        results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
        return [each if isinstance(each, str) else type(each).__name__ for each in results]

    return asyncio.run(calls())


def recorded_texts(folder: Path) -> list[str]:
    (path,) = folder.glob("*.jsonl")
    return [json.loads(line)["response"]["text"] for line in path.read_text().splitlines()]


@pytest.mark.parametrize("mode", ["once", "new_episodes", "all"])
def test_identical_calls_in_flight_are_asked_once_and_share_the_recorded_reply(mode: str, tmp_path: Path) -> None:
    backend, meters = VaryingModel(), [Meter() for _ in range(4)]
    model = recording(tmp_path, backend, mode)
    assert call_concurrently(model, meters) == ["a"] * 4
    assert [meter.calls for meter in meters] == [Calls(1, 0, 1, 10, 5, 0.25, 0.25)] + [
        Calls(1, 1, 0, 10, 5, 0.25, 0.0)
    ] * 3
    assert [meter.replayed for meter in meters] == [False, True, True, True]
    assert len({meter.keys for meter in meters}) == 1
    assert (ask(model).text, len(backend.requests), recorded_texts(tmp_path)) == ("a", 1, ["a"])


def test_without_recordings_identical_calls_are_all_asked() -> None:
    assert sorted(call_concurrently(client(VaryingModel()), [Meter()] * 3)) == ["a", "b", "c"]


def test_calls_that_waited_for_a_failed_call_are_asked_separately(tmp_path: Path) -> None:
    backend = VaryingModel(error("bad_request"))
    replies = call_concurrently(recording(tmp_path, backend), [Meter()] * 3)
    assert replies == ["ModelError", "a", "a"]
    assert recorded_texts(tmp_path) == ["a"]
    assert len(backend.requests) == 3  # the waiting calls did not wait for each other
    backend = VaryingModel(error("bad_request"), error("bad_request"), error("bad_request"))
    assert call_concurrently(recording(tmp_path / "new", backend), [Meter()] * 3) == ["ModelError"] * 3


def test_one_of_the_calls_that_waited_for_a_cancelled_call_replaces_it(tmp_path: Path) -> None:
    backend, meters = VaryingModel(), [Meter() for _ in range(3)]
    assert call_concurrently(recording(tmp_path, backend), meters, cancel_first=True) == ["CancelledError", "b", "b"]
    assert [meter.calls.replayed for meter in meters] == [0, 0, 1]
    assert (len(backend.requests), recorded_texts(tmp_path)) == (2, ["b"])


def test_identical_calls_on_several_loops_are_asked_once(tmp_path: Path) -> None:
    loop = LoopThread()
    loop.run(asyncio.sleep(0))  # starts the loop
    backend = VaryingModel()
    model = recording(tmp_path, backend, run_on_loop=loop.await_on_loop)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: ask(model).text, range(4))) == ["a"] * 4
    loop.close()
    assert len(backend.requests) == 1


def test_a_recording_without_a_field_is_reported(tmp_path: Path) -> None:
    ask(recording(tmp_path, ScriptedLLM("me")))
    (path,) = tmp_path.glob("*.jsonl")
    path.write_text(path.read_text().replace('"text"', '"txt"'))
    raised = failure_of(recording(tmp_path, ScriptedLLM([])))
    assert raised.kind == "malformed_response"
    assert "has no 'text'; delete it and record it again" in str(raised)


def test_a_recording_with_a_negative_cost_is_reported(tmp_path: Path) -> None:
    ask(recording(tmp_path, ScriptedLLM("me", usage=Usage(1, 1, 0.5))))
    (path,) = tmp_path.glob("*.jsonl")
    path.write_text(path.read_text().replace('"cost_usd": 0.5', '"cost_usd": -100'))
    raised = failure_of(recording(tmp_path, ScriptedLLM([])))
    assert raised.kind == "malformed_response"
    assert "has a cost_usd of -100, wanted a finite number of 0 or more; delete it and record it again" in str(raised)


def test_a_replay_takes_less_than_a_millisecond_and_imports_no_provider_library(tmp_path: Path) -> None:
    async def seconds_per_call() -> float:
        start = process_time()
        for number in range(500):
            await model.complete(user(f"question {number} " * 50))
        return (process_time() - start) / 500

    recorder = recording(tmp_path, ScriptedLLM("me", usage=USAGE))
    asyncio.run(record_calls(recorder, 500))
    before = set(sys.modules)
    model = recording(tmp_path, ScriptedLLM([]), "none")
    assert asyncio.run(seconds_per_call()) < 0.001
    assert not {"litellm", "openai", "httpx"} & (set(sys.modules) - before)


async def record_calls(model: Client, number: int) -> None:
    await asyncio.gather(*(model.complete(user(f"question {at} " * 50)) for at in range(number)))


# Money


LONGEST_REPLY = 2000
"""Most tokens that a reply of this model may have."""


def highest_price(messages: Sequence[Message], params: Mapping[str, object]) -> float:
    longest = int(str(params["max_tokens"]))
    return (LONGEST_REPLY if longest == UNSET else longest) / 1000


@pytest.fixture
def budget_file(tmp_path: Path) -> Path:
    return tmp_path / "budget.json"


def budget_state(budget_file: Path) -> tuple[float, float]:
    state: dict[str, float] = json.loads(budget_file.read_text())
    return state["spent"], state["reserved"]


def test_a_call_reserves_its_highest_price_and_settles_its_real_price(budget_file: Path) -> None:
    class BudgetReader(ScriptedLLM):
        async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
            states.append(budget_state(budget_file))
            return await super().complete(messages, **params)

    states: list[tuple[float, float]] = []
    backend = BudgetReader([error("timeout"), Completion("me", USAGE)])
    ask(client(backend, budget=Budget(1.0, budget_file), max_cost=highest_price), max_tokens=500)
    assert states == [(0.0, 0.5)] * 2
    assert budget_state(budget_file) == (0.25, 0.0)


def test_a_call_that_would_exceed_the_budget_is_not_sent(budget_file: Path) -> None:
    backend, meter = ScriptedLLM("me", usage=USAGE), Meter()
    model = client(backend, budget=Budget(0.7, budget_file), max_cost=highest_price, params={"max_tokens": 500})
    ask(model)
    raised = failure_of(model, meter=meter)
    assert (raised.kind, raised.attempts, meter.calls, len(backend.requests)) == ("budget", 0, Calls(), 1)
    assert str(raised).startswith("the budget of $0.7 would be passed by a call that may cost $0.5, with $0.25 spent")
    assert "max_tokens" not in str(raised)


def test_without_max_tokens_the_longest_reply_is_assumed_and_reported(budget_file: Path) -> None:
    backend = ScriptedLLM("me")
    raised = failure_of(client(backend, budget=Budget(1.9, budget_file), max_cost=highest_price, kind="judge"))
    assert (raised.kind, raised.attempts) == ("budget", 0)
    assert "by a call that may cost $2, " in str(raised)
    assert str(raised).endswith(
        "(the longest possible reply of openai/m is assumed; give a lower max_tokens in rag_judge_params)"
    )
    ask(client(backend, budget=Budget(2.0, budget_file), max_cost=highest_price))
    assert backend.requests[0].params == {}


def test_max_tokens_is_required_if_the_longest_reply_is_unknown(budget_file: Path) -> None:
    def most(messages: Sequence[Message], params: Mapping[str, object]) -> float | None:
        return None if params["max_tokens"] == UNSET else highest_price(messages, params)

    backend = ScriptedLLM("me")
    raised = failure_of(client(backend, budget=Budget(9.0, budget_file), max_cost=most, kind="judge"))
    assert (raised.kind, raised.attempts, backend.requests) == ("budget", 0, ())
    assert str(raised) == (
        "the budget cannot be kept because it is unknown how long a reply of openai/m may be; "
        "give max_tokens in rag_judge_params"
    )
    ask(client(backend, budget=Budget(9.0, budget_file), max_cost=most), max_tokens=500)
    assert budget_state(budget_file) == (0.5, 0.0)


def test_the_newer_name_of_max_tokens_also_counts(budget_file: Path) -> None:
    ask(client(ScriptedLLM("me"), budget=Budget(1.0, budget_file), max_cost=highest_price), max_completion_tokens=900)
    assert budget_state(budget_file) == (0.9, 0.0)


@pytest.mark.parametrize("most", [None, lambda messages, params: None])
def test_an_unknown_price_cannot_be_budgeted(budget_file: Path, most: object) -> None:
    backend = ScriptedLLM("me")
    raised = failure_of(client(backend, budget=Budget(1.0, budget_file), max_cost=most))
    assert (raised.kind, raised.attempts, backend.requests) == ("budget", 0, ())
    assert str(raised) == (
        "the budget cannot be kept because the price of openai/m is unknown; "
        "give input_cost_per_token and output_cost_per_token in rag_model_params"
    )


def test_a_failed_call_releases_its_reservation(budget_file: Path) -> None:
    failure_of(client(ScriptedLLM([error("auth")]), budget=Budget(2.0, budget_file), max_cost=highest_price))
    assert budget_state(budget_file) == (0.0, 0.0)


def test_replies_of_unknown_price_and_cancelled_calls_cost_their_reservation(budget_file: Path) -> None:
    budget = Budget(9.0, budget_file)
    ask(client(ScriptedLLM("me"), budget=budget, max_cost=highest_price), max_tokens=500)
    assert budget_state(budget_file) == (0.5, 0.0)
    calls_after_cancel(
        client(ScriptedLLM("me", delay_s=1), budget=budget, max_cost=highest_price, params={"max_tokens": 1000}), 0.02
    )
    assert budget_state(budget_file) == (1.5, 0.0)


def test_a_replayed_call_needs_no_budget(tmp_path: Path, budget_file: Path) -> None:
    ask(recording(tmp_path, ScriptedLLM("me", usage=USAGE)))
    assert ask(recording(tmp_path, ScriptedLLM([]), budget=Budget(0.0, budget_file))).text == "me"
    assert not budget_file.exists()


# Many calls


def test_a_thousand_calls_to_a_faulty_backend_all_get_one_reply() -> None:
    faults = iter(range(10**9))

    def reply(messages: Sequence[Message]) -> str | ModelError:
        number = next(faults)
        kind = sorted(RETRYABLE)[number // 5 % len(RETRYABLE)]
        return error(kind) if number % 5 == 0 else messages[-1]["content"]

    async def calls() -> list[Completion]:
        return await asyncio.gather(*(model.complete(user(str(number))) for number in range(1000)))

    backend, meter = ScriptedLLM(reply, delay_s=0.001, usage=USAGE), Meter()
    model = client(backend, limiter=Limiter(64))
    token = SCOPE.set(Scope(meter))
    completions = asyncio.run(calls())
    SCOPE.reset(token)
    assert [completion.text for completion in completions] == [str(number) for number in range(1000)]
    sent = len(backend.requests)
    assert meter.calls == Calls(1000, 0, sent, 10_000, 5_000, 250.0, 250.0)
    assert sent == sum(completion.attempts for completion in completions) > 1200


FAULT_SHARES = {"429": 0.06, "500": 0.05, "reset": 0.03, "truncated_body": 0.03, "malformed": 0.03}


def test_a_thousand_http_calls_to_a_faulty_provider_all_get_one_reply(openai_server: OpenAIServer) -> None:
    async def calls() -> list[Completion]:
        try:
            return await asyncio.gather(*(model.complete(user(f"question {number}")) for number in range(1000)))
        finally:
            await model.close()

    plan = openai_server.plan = shares(FAULT_SHARES)
    prices = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.002}
    params = {"api_base": openai_server.base_url, "api_key": "sk-none", "timeout": 20, **prices}
    model = client(NamedModel("openai/m"), limiter=Limiter(64), params=params, retry=RetryPolicy(10, base_s=0.01))
    meter = Meter()
    token = SCOPE.set(Scope(meter))
    completions = asyncio.run(calls())
    SCOPE.reset(token)
    assert [completion.text for completion in completions] == [f"question {number}" for number in range(1000)]
    sent = len(openai_server.requests)
    assert sum(plan(number, {}) is None for number in range(1, sent + 1)) == 1000  # each call was answered only once
    assert 1150 < sent == sum(completion.attempts for completion in completions)
    assert meter.calls.cost_usd == pytest.approx(1000 * 2 * (0.001 + 0.002))
    assert replace(meter.calls, cost_usd=0.0, spent_usd=0.0) == Calls(1000, 0, sent, 2000, 2000)
    assert openai_server.peak <= 64
