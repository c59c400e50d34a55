"""Search for the smallest context of a case, with the system of its test."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_rageval.analysis.clusters import REPEAT
from pytest_rageval.analysis.misses import is_miss
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.generation.shrinking.ddmin import NoMoreTestsError
from pytest_rageval.generation.shrinking.reply import Reply
from pytest_rageval.generation.shrinking.shrink_result import ShrinkResult
from pytest_rageval.generation.shrinking.smallest_context import Context, smallest_context
from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY
from pytest_rageval.hooks.config.fixture_overrides import set_up_for
from pytest_rageval.hooks.run.answering import answering_of
from pytest_rageval.hooks.run.cancellation import CANCELLED
from pytest_rageval.hooks.run.failures import BUDGET
from pytest_rageval.hooks.run.rag_ask import AskedResult
from pytest_rageval.metrics.answers.stable import BY_RULE
from pytest_rageval.metrics.shared.detection import rejects
from pytest_rageval.model.case import Case, Passage, Turn
from pytest_rageval.model.facets import RELATION

__all__ = ["CONFIRMATIONS", "MAX_REQUESTS", "shrink", "with_names"]

MAX_REQUESTS, CONFIRMATIONS = 60, 3
"""Maximum number of requests for a case, and how often its smallest context is asked to confirm it."""

BY_PERSON = "you stopped it"
"""The reason of a search that a person stopped."""


def shrink(
    item: pytest.Item,
    following: pytest.Item | None,
    max_requests: int = MAX_REQUESTS,
    confirm: int = CONFIRMATIONS,
    stop: threading.Event | None = None,
) -> ShrinkResult | str:
    """Return the smallest context with which the case of a test misses its gate, or why there is none.

    Args:
        item: the test of the case; it does not run.
        following: the next test; fixtures that it needs stay set up. None after the last test.
        max_requests: the maximum number of requests.
        confirm: number of times to ask the smallest context.
        stop: set by another thread to end the search with its smallest context so far; None if it cannot be stopped.
    """
    entry = item.stash[ENTRY]
    primary = next(iter(entry.testbed.metrics.values()))
    if entry.testbed.recorded is not None:
        return "its answers are recorded, and no system answers anything else"
    if (relation := entry.case.facets.get(RELATION)) in BY_RULE:
        return f"the relation {relation} should change its answer; shrink the case that it was made of"
    if primary.of == "retrieval":
        return f"its primary metric {primary.name} judges the ranking, not the answer"
    try:
        with set_up_for(item, following) as request:
            return _ContextSearch(item, request, stop).run(max_requests, confirm)
    except SettingError as error:
        return str(error)
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # from a user's fixture
        return f"its fixtures failed: {type(error).__name__}: {error}"


def with_names(items: Sequence[pytest.Item]) -> list[tuple[str, pytest.Item]]:
    """Return each test with its name, or its node id if another one has the same name."""
    names = Counter(item.name for item in items)
    return [(item.name if names[item.name] == 1 else item.nodeid, item) for item in items]


class _ContextSearch:
    """Searches for the smallest context of one case: asks its system with parts of its passages."""

    def __init__(self, item: pytest.Item, request: pytest.FixtureRequest, stop: threading.Event | None) -> None:
        self._stop = stop
        self._collected = item.config.stash[COLLECTED]
        self._entry = item.stash[ENTRY]
        self._case = self._collected.session_case(self._entry)
        self._asking = answering_of(item.session).asking
        self._request = request
        self._history: tuple[Turn, ...] = ()

    def run(self, max_requests: int, confirm: int) -> ShrinkResult:
        """Return the smallest context; raise `SettingError` if the system cannot be asked with other passages."""
        retrieves = self._case.supplied is None
        context = self._retrieve() if retrieves else self._case.supplied or ()
        result = smallest_context(
            self._case.instance, context, self._reply, retrieves=retrieves, limit=max_requests, confirm=confirm
        )
        return replace(result, history=self._history)

    def _retrieve(self) -> Context:
        """Ask the system without passages, and return those that it retrieves."""
        result, error = self._answer(self._case)
        if error is not None and error.kind == CANCELLED:
            raise SettingError(f"it was not asked: {_stopped(error)}")
        if error is not None:
            raise SettingError(f"it cannot be asked again: {error}")
        ranking, in_record = result.answer.ranking, {each.id: each for each in self._case.instance.passages or ()}
        items = () if ranking is None else ranking.items
        retrieved = [in_record.get(each.doc_id, Passage(each.doc_id, each.text, each.title)) for each in items]
        if not retrieved or not all(passage.text for passage in retrieved):
            raise SettingError(
                "its system retrieves for itself and does not report what; return an Answer whose ranking has texts"
            )
        return tuple(retrieved)

    def _reply(self, context: Context, repeat: int) -> Reply:
        """Ask the system with a context; raise `NoMoreTestsError` if the search was stopped or its budget is spent."""
        if self._stop is not None and self._stop.is_set():
            raise NoMoreTestsError(BY_PERSON)
        calls_before = self._collected.models.outside.calls
        result, error = self._answer(replace(self._case, supplied=context), repeat)
        calls = self._collected.models.outside.calls
        replayed = calls.calls > calls_before.calls and calls.attempts == calls_before.attempts
        self._history = result.case.instance.history
        if error is not None:
            if error.kind == BUDGET:
                raise NoMoreTestsError(str(error).partition("\n")[0])
            if error.kind == CANCELLED:
                raise NoMoreTestsError(_stopped(error))
            return Reply(None, replayed=replayed, problem=str(error))
        if result.outcome.status == "error":  # a metric failed
            return Reply(None, replayed=replayed, problem=str(result.outcome.error))
        testbed, primary = self._entry.testbed, next(iter(self._entry.testbed.metrics.values()))
        score, answer = result.outcome.scores[primary.name], result.answer
        ranking = None if answer.ranking is None else tuple(each.doc_id for each in answer.ranking.items)
        rejected = rejects(answer, self._collected.options.markers)
        if score.value is None:
            problem = f"{primary.name} has no value: {score.reason}"
            return Reply(None, answer.text, rejected, ranking, replayed, problem)
        is_missed = is_miss(result.outcome, primary.name, primary.higher_is_better, testbed.gates)
        return Reply(is_missed, answer.text, rejected, ranking, replayed)

    def _answer(self, case: Case, repeat: int = 1) -> tuple[AskedResult, CaseError | None]:
        """Ask the system for a case; return the result, and the error or None."""
        testbed = self._entry.testbed
        number = int(case.facets.get(REPEAT, "1")) + repeat - 1  # an equal repeat is not asked again
        asked = case if repeat == 1 else case.with_facets(repeat=str(number))
        primary = next(iter(testbed.metrics.values()))
        system, nodeid = self._entry.responder.name, self._request.node.nodeid
        task = Task(nodeid, testbed.nodeid, system, asked, (primary,), testbed.correctness)
        return self._asking.answer(self._request, self._entry, task, self._stop)


def _stopped(error: CaseError) -> str:
    return str(error).replace("stopped", BY_PERSON, 1)
