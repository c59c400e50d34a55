"""Answering a test item's case: which system, and what to do when it is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_rageval.analysis.verdicts import NOT_ASKED
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.recorded import RecordedAnswerer
from pytest_rageval.engine.runner import Answerer, Runner, SystemAnswerer, Task, outcome_of
from pytest_rageval.engine.tracebacks import cause_of, described
from pytest_rageval.errors import CaseError, RagEvalError, SystemContractError
from pytest_rageval.hooks.keys import RESULT
from pytest_rageval.hooks.planning import case_ids
from pytest_rageval.hooks.result import RagResult
from pytest_rageval.systems.parts import SystemParts

if TYPE_CHECKING:
    from pytest_rageval.hooks.collected import Collected, Entry
    from pytest_rageval.model.outcome import Outcome
    from pytest_rageval.model.protocols import System

__all__ = ["Answering"]

BUILD, CONTRACT = "system_build", "system_contract"
"""The error_types after which a system is not asked again."""


class Answering:
    """Asks the systems of one process.

    A system that cannot be built or breaks its contract is one error that names it; the cases that
    come after are skipped for that reason, and gates over them fail.
    """

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self._runner = Runner(collected.options.markers)
        self._loop = LoopThread()
        self._case_ids = case_ids(collected)
        self._named: dict[str, System] = {}
        self._lasting: dict[object, SystemAnswerer] = {}
        self._broken: dict[object, Outcome] = {}

    def answer(self, request: pytest.FixtureRequest, entry: Entry) -> RagResult:
        """Answer and score the case of ``request``'s item; an error fails the item's setup."""
        item = request.node
        case_id = self._case_ids[entry.source.name, entry.case.id]
        case = entry.case if case_id == entry.case.id else entry.case.renamed(case_id)
        task = Task(
            item.nodeid, entry.testbed.nodeid, entry.responder.name, case, tuple(entry.testbed.metrics.values())
        )
        origin = self._origin(request, entry)
        broken = self._broken.get(origin)
        if broken is not None and broken.nodeid != item.nodeid:  # the same item again is a rerun, and may go well
            self._not_asked(request, task, broken)
        outcome = self._outcome(request, entry, task, origin)
        if outcome.error_type in (BUILD, CONTRACT):
            self._broken[origin] = outcome
        elif broken is not None:
            del self._broken[origin]
        result = self._keep(request, task, outcome)
        if outcome.status == "error":
            pytest.fail(outcome.error or "", pytrace=False)
        return result

    def close(self) -> None:
        """End the event loop's thread."""
        self._loop.close()

    def _origin(self, request: pytest.FixtureRequest, entry: Entry) -> object:
        """Return what gives the system: a name, or the ``rag_system`` fixture in force with its parameter."""
        if entry.responder.named or self._collected.recorded is not None:
            return entry.responder.name
        found = request.session._fixturemanager.getfixturedefs("rag_system", request.node) or ()
        return (*found[-1:], request.node.callspec.indices.get("rag_system"))

    def _outcome(self, request: pytest.FixtureRequest, entry: Entry, task: Task, origin: object) -> Outcome:
        try:
            answerer = self._answerer(request, entry, origin)
        except RagEvalError as error:
            return outcome_of(task, error=CaseError(BUILD, f"system {task.system!r} could not be built: {error}"))
        except (Exception, pytest.fail.Exception) as error:
            message = f"system {task.system!r} could not be built: {cause_of(error)}"
            return outcome_of(task, error=CaseError(BUILD, message))
        try:
            return self._runner.run(task, answerer)
        except SystemContractError as error:
            return outcome_of(task, error=CaseError(CONTRACT, str(error)))
        except pytest.fail.Exception as error:  # of pytest-timeout, for one
            message = f"system {task.system!r} failed on case {task.case.id!r}: {described(error)}"
            return outcome_of(task, error=CaseError("system_error", message))

    def _answerer(self, request: pytest.FixtureRequest, entry: Entry, origin: object) -> Answerer:
        if self._collected.recorded is not None:
            return RecordedAnswerer(self._collected.recorded, entry.responder.name, entry.name)
        answerer = self._lasting.get(origin)
        if answerer is None:
            answerer = SystemAnswerer(self._system(request, entry), entry.responder.name, self._loop)
            if entry.responder.lasting:
                self._lasting[origin] = answerer
        return answerer

    def _system(self, request: pytest.FixtureRequest, entry: Entry) -> System:
        if not entry.responder.named:
            system: System = request.getfixturevalue("rag_system")
            return _callable(system, "the rag_system fixture")
        name = entry.responder.name
        if name not in self._named:
            loaded = self._collected.named.get(name)
            if loaded is not None:
                self._named[name] = loaded
            else:
                parts = SystemParts(
                    request.getfixturevalue("rag_retriever"),
                    request.getfixturevalue("rag_generator"),
                    self._collected.options.top_k,
                )
                built = self._collected.catalog.systems.get(name)(parts)
                self._named[name] = _callable(built, "its factory")
        return self._named[name]

    def _not_asked(self, request: pytest.FixtureRequest, task: Task, broken: Outcome) -> NoReturn:
        first = (broken.error or "").partition("\n")[0]
        outcome = outcome_of(task, error=CaseError(NOT_ASKED, first))
        self._keep(request, task, replace(outcome, status="skipped"))
        pytest.skip(f"not asked: {first}")

    def _keep(self, request: pytest.FixtureRequest, task: Task, outcome: Outcome) -> RagResult:
        result = RagResult(task.case, outcome, self._collected.catalog.metrics, self._runner)
        request.node.stash[RESULT] = result
        return result


def _callable(system: System, giver: str) -> System:
    if not callable(system):
        raise SystemContractError(f"{giver} gave {type(system).__name__}, which cannot be called")
    return system
