"""The budget: reservations, waiting calls, refusals, and several processes on one file."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

from pytest_rageval.errors import ModelError
from pytest_rageval.llm import budget as budget_module
from pytest_rageval.llm.budget import Budget


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.json"


def state(path: Path) -> tuple[float, float]:
    content = json.loads(path.read_text())
    return content["spent"], content["reserved"]


def refusal(budget: Budget, most_usd: float) -> str:
    with pytest.raises(ModelError) as error:
        asyncio.run(budget.reserve(most_usd))
    assert (error.value.kind, error.value.attempts) == ("budget", 0)
    return str(error.value)


def test_a_reservation_is_in_the_file_until_it_is_settled(path: Path) -> None:
    budget = Budget(1.0, path)
    asyncio.run(budget.reserve(0.3))
    assert state(path) == (0.0, 0.3)
    budget.settle(0.3, 0.1)
    assert state(path) == (0.1, 0.0)


def test_a_budget_can_be_spent_to_the_last_cent(path: Path) -> None:
    budget = Budget(1.0, path)
    for _ in range(10):
        asyncio.run(budget.reserve(0.1))
        budget.settle(0.1, 0.1)
    assert state(path) == (1.0, 0.0)
    assert refusal(budget, 0.000001).startswith("the budget of $1 would be passed by a call that may cost $1e-06, with")


def test_sums_of_prices_ignore_rounding_errors(path: Path) -> None:
    budget = Budget(0.3, path)
    for most_usd in (0.1, 0.2):  # 0.1 + 0.2 > 0.3 in binary fractions
        asyncio.run(budget.reserve(most_usd))
    assert state(path) == (0.0, 0.3)


def test_a_call_that_can_never_fit_does_not_wait_for_calls_in_flight(path: Path) -> None:
    budget = Budget(1.0, path)
    for most_usd in (0.5, 0.1):
        asyncio.run(budget.reserve(most_usd))
    budget.settle(0.5, 0.5)
    assert "by a call that may cost $0.6, with $0.5 spent and $0.1 reserved" in refusal(budget, 0.6)


def test_a_budget_of_zero_allows_only_free_calls(path: Path) -> None:
    budget = Budget(0.0, path)
    asyncio.run(budget.reserve(0.0))
    budget.settle(0.0, 0.0)
    assert "would be passed" in refusal(budget, 0.01)


def test_after_a_refusal_every_later_call_is_refused(path: Path) -> None:
    budget = Budget(1.0, path)
    message = refusal(budget, 1.5)
    assert message == (
        "the budget of $1 would be passed by a call that may cost $1.5, with $0 spent and $0 reserved for calls in "
        "flight; raise --rag-budget-usd, and go on with --rag-resume"
    )
    assert refusal(budget, 0.01) == message


def test_calls_wait_for_calls_in_flight_that_may_cost_less(path: Path) -> None:
    in_flight = peak = 0

    async def call() -> None:
        nonlocal in_flight, peak
        await budget.reserve(0.05)
        in_flight += 1
        peak = max(peak, in_flight)
        await asyncio.sleep(0.001)
        in_flight -= 1
        budget.settle(0.05, 0.001)

    async def calls() -> None:
        await asyncio.gather(*(call() for _ in range(30)))

    budget = Budget(0.1, path)
    asyncio.run(calls())
    assert (peak, state(path)) == (2, (0.03, 0.0))


def test_waiting_calls_are_refused_if_calls_in_flight_cost_too_much(path: Path) -> None:
    async def calls() -> list[BaseException | None]:
        await budget.reserve(0.06)
        waiting = [asyncio.create_task(budget.reserve(0.06)) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert not any(task.done() for task in waiting)
        budget.settle(0.06, 0.05)
        return await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)

    budget = Budget(0.1, path)
    errors = asyncio.run(calls())
    assert [isinstance(error, ModelError) and error.kind for error in errors] == ["budget"] * 3
    assert state(path) == (0.05, 0.0)


def test_a_call_waits_for_calls_of_another_process(path: Path) -> None:
    async def calls() -> None:
        await other.reserve(0.1)
        waiting = asyncio.create_task(budget.reserve(0.1))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        other.settle(0.1, 0.02)
        await asyncio.wait_for(waiting, 5)

    budget, other = Budget(0.15, path), Budget(0.15, path)
    asyncio.run(calls())
    assert state(path) == (0.02, 0.1)


def test_a_call_does_not_wait_forever_for_a_killed_process(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget_module, "PATIENCE_S", 0.05)
    asyncio.run(Budget(0.15, path).reserve(0.1))
    assert "with $0 spent and $0.1 reserved for calls in flight" in refusal(Budget(0.15, path), 0.1)


def test_a_call_cancelled_while_it_waits_reserves_nothing_and_blocks_no_other_call(path: Path) -> None:
    async def calls() -> None:
        await budget.reserve(0.1)
        first, second = (asyncio.create_task(budget.reserve(0.1)) for _ in range(2))
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.sleep(0)
        budget.settle(0.1, 0.0)
        await asyncio.wait_for(second, 5)
        assert first.cancelled()

    budget = Budget(0.1, path)
    asyncio.run(calls())
    assert state(path) == (0.0, 0.1)


@pytest.mark.parametrize("turns", range(4))
def test_a_cancellation_at_the_end_of_the_wait_is_not_lost(turns: int, path: Path) -> None:
    async def call() -> None:
        await budget.reserve(0.1)
        await asyncio.sleep(5)

    async def calls() -> None:
        await budget.reserve(0.1)
        task = asyncio.create_task(call())
        await asyncio.sleep(0.005)
        budget.settle(0.1, 0.0)
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=1)
        assert task.cancelled()

    budget = Budget(0.1, path)
    asyncio.run(calls())


SPENDER = """
import asyncio, sys
from pathlib import Path
from pytest_rageval.errors import ModelError
from pytest_rageval.llm.budget import Budget

budget = Budget(float(sys.argv[2]), Path(sys.argv[1]))
n_calls = 0

async def call():
    global n_calls
    try:
        await budget.reserve(0.01)
    except ModelError:
        return False
    n_calls += 1
    await asyncio.sleep(0.002)
    budget.settle(0.01, 0.01)
    return True

async def worker():
    while await call():
        pass

async def main():
    await asyncio.gather(*(worker() for _ in range(4)))

print("ready", flush=True)
sys.stdin.readline()
asyncio.run(main())
print(n_calls)
"""


def start_spender(path: Path, limit_usd: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SPENDER, str(path), str(limit_usd)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_share_one_budget_and_do_not_exceed_it(path: Path) -> None:
    processes = [start_spender(path, 1.5) for _ in range(3)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    call_counts = [int(process.communicate(timeout=30)[0]) for process in processes]
    assert state(path) == (1.5, 0.0)
    assert sum(call_counts) == 150
    assert sum(count > 0 for count in call_counts) > 1


def test_a_killed_process_leaves_a_file_that_can_be_read(path: Path) -> None:
    process = start_spender(path, 1e9)
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    while not path.exists() or not path.read_bytes():
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    spent_before, reserved = state(path)
    assert 0 <= reserved <= 0.04
    budget = Budget(1e9, path)
    asyncio.run(budget.reserve(1.0))
    budget.settle(1.0, 0.5)
    spent_after, reserved_after = state(path)
    assert spent_after == pytest.approx(spent_before + 0.5)
    assert reserved_after == reserved


def test_a_budget_operation_takes_less_than_a_millisecond(path: Path) -> None:
    async def measure() -> list[float]:
        times = []
        for _ in range(200):
            start = perf_counter()
            await budget.reserve(0.01)
            budget.settle(0.01, 0.005)
            times.append((perf_counter() - start) / 2)
        return times

    budget = Budget(100.0, path)
    assert median(asyncio.run(measure())) < 0.001


def test_reported_costs_count_towards_the_budget(path: Path) -> None:
    budget, other = Budget(0.3, path), Budget(0.3, path)
    budget.check()
    budget.spend(0.1)
    other.check()
    other.spend(0.2)
    assert state(path) == (0.3, 0.0)
    with pytest.raises(
        ModelError, match=r"the budget of \$0.3 is spent: calls and answers so far cost \$0.3; raise --rag"
    ):
        budget.check()
    assert refusal(other, 0.1).startswith("the budget of $0.3 would be passed")


def test_a_budget_of_zero_stops_after_a_reported_cost(path: Path) -> None:
    budget = Budget(0.0, path)
    budget.check()
    budget.spend(0.1)
    with pytest.raises(ModelError):
        budget.check()
