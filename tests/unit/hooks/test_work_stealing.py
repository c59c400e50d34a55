"""A worker keeps the tests whose answers it asks for; tested with xdist's real queue and `steal`."""

from __future__ import annotations

from typing import Any

import pytest
from execnet.gateway_base import get_execmodel
from xdist.remote import TestQueue as Queue  # type: ignore[import-untyped]
from xdist.remote import WorkerInteractor

from pytest_rageval.hooks.run.work_stealing import StealGuard


@pytest.fixture
def worker() -> Any:
    """Return xdist's worker with test 0 running, 1 next and 2 to 5 queued; ``events`` lists what it sends."""
    worker: Any = WorkerInteractor.__new__(WorkerInteractor)
    worker.torun = Queue(get_execmodel("thread"))
    for index in range(2, 6):
        worker.torun.put(index)
    worker.nextitem_index = 1
    worker.log = lambda *words: None
    worker.events = []
    worker.sendevent = lambda name, indices: worker.events.append((name, indices))
    return worker


def queue(worker: Any) -> list[int]:
    with worker.torun.lock() as tests:
        return list(tests)


def end_test(guard: StealGuard) -> None:
    """Run the guard's part of a test's protocol."""
    protocol = guard.pytest_runtest_protocol()
    next(protocol)
    with pytest.raises(StopIteration):
        protocol.send(None)


def test_tests_that_are_not_asked_for_are_given_to_another_worker(worker: Any) -> None:
    guard = StealGuard(worker)
    assert guard.keep(2)
    worker.handle_command(("steal", {"indices": [4, 5]}))
    assert worker.events == [("unscheduled", [4, 5])]
    assert queue(worker) == [2, 3]


def test_only_the_tests_asked_for_are_kept(worker: Any) -> None:
    guard = StealGuard(worker)
    assert guard.keep(1)
    assert guard.keep(3)
    worker.handle_command(("steal", {"indices": [3, 4, 5]}))
    assert worker.events == [("unscheduled", [4, 5])]
    assert queue(worker) == [2, 3]


def test_a_request_for_kept_tests_only_is_declined_after_the_next_test(worker: Any) -> None:
    guard = StealGuard(worker)
    assert all(guard.keep(index) for index in range(1, 6))
    worker.handle_command(("steal", {"indices": [4, 5]}))
    assert worker.events == []
    end_test(guard)
    end_test(guard)
    assert worker.events == [("unscheduled", [])]
    assert queue(worker) == [2, 3, 4, 5]


def test_a_request_for_tests_that_have_run_is_declined_at_once(worker: Any) -> None:
    guard = StealGuard(worker)
    assert guard.keep(1)
    worker.handle_command(("steal", {"indices": [0, 1]}))
    assert worker.events == [("unscheduled", [])]


def test_a_stolen_test_cannot_be_kept(worker: Any) -> None:
    guard = StealGuard(worker)
    worker.handle_command(("steal", {"indices": [4, 5]}))
    assert not guard.keep(4)
    assert guard.keep(3)
