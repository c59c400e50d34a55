"""Paid calls of unreported cases: later runs reuse their answers and add their cost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.loop import NoLoop
from pytest_rageval.engine.once_cache import OnceCache
from pytest_rageval.errors import CaseError
from pytest_rageval.llm.client.clients import Client
from pytest_rageval.llm.client.earlier_calls import EarlierCalls
from pytest_rageval.llm.client.journal import CaseJournal, Journal
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case, Instance, Query
from pytest_rageval.model.chat import Completion, Message
from pytest_rageval.report.files.journals import journal_path
from pytest_rageval.report.files.paid_calls import PaidCalls, join_paid, paid_by_run, unclaimed_calls

PRICE = Calls(1, 0, 1, 10, 5, 0.5, 0.5)
CASE = Case("q1", Instance("q1", "Which city?", (("Paris",),), ()), None, {})


class CountingModel:
    """A model that counts its calls and hangs on a given text."""

    def __init__(self, hangs_on: str = "") -> None:
        self.n_calls = 0
        self.hangs_on = hangs_on

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        self.n_calls += 1
        if messages[0]["content"] == self.hangs_on:
            await asyncio.sleep(60)
        return Completion(f"reply {self.n_calls}", Usage(10, 5, 0.5), "stop")


def client_of(model: CountingModel, kind: str = "model") -> Client:
    return Client(model, name="desk", kind=kind, limiter=Limiter(4), retry=RetryPolicy())


def ask(client: Client, *texts: str) -> Coroutine[Any, Any, Answer]:
    async def system() -> Answer:
        for text in texts:
            reply = await client.complete([{"role": "user", "content": text}])
        return Answer(reply.text)

    return system()


def run(journal: Journal, client: Client, *texts: str, nodeid: str = "t[q1]", limit_s: float = 5.0) -> Meter:
    """Run a system that sends these texts to a model for a case, with a time limit."""

    async def system(query: Query) -> Answer:
        return await ask(client, *texts)

    async def run_case() -> Meter:
        meter = Meter()
        SCOPE.set(Scope(meter, journal=CaseJournal(journal, nodeid)))
        answerer = SystemAnswerer(system, "mine", NoLoop(), origin="o")
        with contextlib.suppress(asyncio.TimeoutError, CaseError):
            await asyncio.wait_for(answerer.ahead(CASE), limit_s)
        return meter

    return asyncio.run(run_case())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def journal(folder: Path, paid: PaidCalls | None = None, name: str = "main") -> Journal:
    return Journal(journal_path(folder, name), EarlierCalls(() if paid is None else paid.rows))


def test_an_unreported_answer_is_reused_and_charged(folder: Path) -> None:
    run(journal(folder), client_of(CountingModel()), "one", "two")
    paid = paid_by_run(folder, ())
    assert paid.calls == PRICE + PRICE  # the replies are part of the answer and count once
    second_model = CountingModel()
    meter = run(journal(folder, paid, "next"), client_of(second_model), "one", "two")
    assert (second_model.n_calls, meter.calls) == (0, PRICE + PRICE)


def test_an_unreported_answer_is_reused_only_once(folder: Path) -> None:
    run(journal(folder), client_of(CountingModel()), "one")
    second_model, second_journal = CountingModel(), journal(folder, paid_by_run(folder, ()), "next")
    for _ in range(2):
        run(second_journal, client_of(second_model), "one")
    assert second_model.n_calls == 1


def test_replies_of_a_cancelled_system_call_are_reused(folder: Path) -> None:
    meter = run(journal(folder), client_of(CountingModel(hangs_on="two")), "one", "two", limit_s=0.2)
    assert meter.calls.exact.cost_usd is None
    assert (meter.calls.cost_usd, meter.calls.on_their_way) == (0.5, 1)
    paid = paid_by_run(folder, ())
    assert (paid.calls.cost_usd, paid.calls.on_their_way) == (0.5, 1)
    second_model = CountingModel()
    run(journal(folder, paid, "next"), client_of(second_model), "one", "two")
    assert second_model.n_calls == 1


def test_a_reply_of_a_killed_system_call_is_reused(folder: Path) -> None:
    path = journal_path(folder, "main")
    run(journal(folder), client_of(CountingModel(hangs_on="two")), "one", "two", limit_s=0.2)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "cancelled" not in line))  # as after a kill
    paid = paid_by_run(folder, ())
    assert (paid.calls.cost_usd, paid.on_their_way) == (0.5, 1)
    second_model = CountingModel()
    meter = run(journal(folder, paid, "next"), client_of(second_model), "one", "two")
    assert (second_model.n_calls, meter.calls) == (1, PRICE + PRICE)
    assert meter.replayed  # its latency is unknown


def test_a_reported_answer_is_not_reused(folder: Path) -> None:
    run(journal(folder), client_of(CountingModel()), "one")
    assert paid_by_run(folder, {"t[q1]"}) == PaidCalls()
    earlier = paid_by_run(folder, ())
    assert join_paid(earlier, PaidCalls(), {"t[q1]"}) == PaidCalls()
    assert join_paid(earlier, PaidCalls(on_their_way=2), {"t[q2]"}).calls == PRICE + Calls(on_their_way=2)


def test_a_shared_answer_is_reused_by_any_case_and_charged_once(folder: Path) -> None:
    questions: list[str] = []

    async def system(query: Query) -> Answer:
        questions.append(query.question)
        return Answer("Paris", usage=Usage(10, 5, 0.5))

    def run_shared(log: Journal, nodeid: str) -> Meter:
        async def run_case() -> Meter:
            meter = Meter()
            SCOPE.set(Scope(meter, journal=CaseJournal(log, nodeid)))
            answers = OnceCache(SystemAnswerer(system, "mine", NoLoop(), origin="o"))
            assert (await answers.ahead(CASE)).text == "Paris"
            return meter

        return asyncio.run(run_case())

    run_shared(journal(folder), "t[q1]")
    for reported_cases, expected in (((), PRICE), ({"t[q1]"}, Calls())):
        meter = run_shared(journal(folder, paid_by_run(folder, reported_cases), "next"), "t[q2]")
        assert meter.calls == expected
    assert questions == ["Which city?"]


def test_the_calls_of_a_crashed_process_are_counted_from_its_journal(folder: Path) -> None:
    run(journal(folder, name="gw0"), client_of(CountingModel()), "one")
    run(journal(folder, name="gw1"), client_of(CountingModel()), "one", nodeid="t[q2]")
    assert unclaimed_calls(folder, (), {"gw0", "gw1"}) == Calls()
    assert unclaimed_calls(folder, (), {"gw1"}) == PRICE
    assert unclaimed_calls(folder, {"t[q1]"}, {"gw1"}) == Calls()
