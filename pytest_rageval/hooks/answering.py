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
from pytest_rageval.hooks.fixtures import retriever_over
from pytest_rageval.hooks.keys import RESULT
from pytest_rageval.hooks.overrides import PARTS, overridden
from pytest_rageval.hooks.result import RagResult
from pytest_rageval.systems.naive import naive
from pytest_rageval.systems.parts import SystemParts

if TYPE_CHECKING:
    from pytest_rageval.hooks.collected import Collected
    from pytest_rageval.hooks.testbed import Entry
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
        self._origins: dict[object, object] = {}
        self._lasting: dict[object, SystemAnswerer] = {}
        self._broken: dict[object, Outcome] = {}

    def answer(self, request: pytest.FixtureRequest, entry: Entry) -> RagResult:
        """Answer and score the case of ``request``'s item; an error fails the item's setup."""
        item = request.node
        case = self._collected.session_case(entry)
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
        """Return what gives the system: its name, and the fixtures in force that it is or is made of."""
        place = (entry.testbed.nodeid, entry.responder, request.node.callspec.indices.get("rag_system"))
        if place not in self._origins:  # it is the same for every case of a testbed
            self._origins[place] = self._find_origin(request, entry)
        return self._origins[place]

    def _find_origin(self, request: pytest.FixtureRequest, entry: Entry) -> object:
        name = entry.responder.name
        if self._collected.recorded is not None or self._collected.named.get(name) is not None:
            return name
        system = None if entry.responder.named else overridden("rag_system", request.node)
        if system is not None:
            return (system, request.node.callspec.indices.get("rag_system"))
        return (name, *(overridden(part, request.node) for part in PARTS))

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
        name = entry.responder.name
        if entry.responder.named:
            loaded = self._collected.named.get(name)
            return loaded or _callable(self._collected.catalog.systems.get(name)(self._parts(request)), "its factory")
        if overridden("rag_system", request.node) is not None:
            return _callable(request.getfixturevalue("rag_system"), "the rag_system fixture")
        return naive(self._parts(request))

    def _parts(self, request: pytest.FixtureRequest) -> SystemParts:
        """Return the parts in force for a test; two folders may override ``rag_corpus``, and each gets its own."""
        if overridden("rag_retriever", request.node) is not None:
            retriever = request.getfixturevalue("rag_retriever")
        else:
            retriever = retriever_over(request.getfixturevalue("rag_corpus"), self._collected)
        return SystemParts(retriever, request.getfixturevalue("rag_generator"), self._collected.options.top_k)

    def _not_asked(self, request: pytest.FixtureRequest, task: Task, broken: Outcome) -> NoReturn:
        first = (broken.error or "").partition("\n")[0]
        outcome = outcome_of(task, error=CaseError(NOT_ASKED, first))
        self._keep(request, task, replace(outcome, status="skipped"))
        pytest.skip(f"not asked: {first}")

    def _keep(self, request: pytest.FixtureRequest, task: Task, outcome: Outcome) -> RagResult:
        texts = self._collected.options.texts
        result = RagResult(task.case, outcome, self._collected.catalog.metrics, self._runner, texts=texts)
        request.node.stash[RESULT] = result
        return result


def _callable(system: System, giver: str) -> System:
    if not callable(system):
        raise SystemContractError(f"{giver} gave {type(system).__name__}, which cannot be called")
    return system
