"""Answering a test item's case: which system, and what to do when it is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_rageval.analysis.verdicts import NOT_ASKED
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.recorded import RecordedAnswerer
from pytest_rageval.engine.runner import Answerer, Runner, SystemAnswerer, Task, outcome_of
from pytest_rageval.engine.tracebacks import shortest_traceback
from pytest_rageval.errors import CaseError, RagEvalError, SystemContractError
from pytest_rageval.hooks.keys import RESULT
from pytest_rageval.hooks.planning import case_ids
from pytest_rageval.hooks.result import RagResult
from pytest_rageval.systems.loading import load_system
from pytest_rageval.systems.parts import SystemParts

if TYPE_CHECKING:
    from pytest_rageval.hooks.collected import Collected, Entry
    from pytest_rageval.model.outcome import Outcome
    from pytest_rageval.model.protocols import System

__all__ = ["Answering"]


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
        self._lasting: dict[tuple[str, str], SystemAnswerer] = {}
        self._broken: dict[object, str] = {}

    def answer(self, request: pytest.FixtureRequest, entry: Entry) -> RagResult:
        """Answer and score the case of ``request``'s item; an error fails the item's setup."""
        item = request.node
        case_id = self._case_ids[entry.source.name, entry.case.id]
        case = entry.case if case_id == entry.case.id else entry.case.renamed(case_id)
        task = Task(
            item.nodeid, entry.testbed.nodeid, entry.responder.name, case, tuple(entry.testbed.metrics.values())
        )
        answerer = self._answerer(request, entry, task)
        try:
            outcome = self._runner.run(task, answerer)
        except SystemContractError as error:
            self._broken[id(getattr(answerer, "system", None))] = str(error)
            outcome = outcome_of(task, error=CaseError("system_contract", str(error)))
        result = self._keep(request, task, outcome)
        if outcome.status == "error":
            pytest.fail(outcome.error or "", pytrace=False)
        return result

    def close(self) -> None:
        """End the event loop's thread."""
        self._loop.close()

    def _answerer(self, request: pytest.FixtureRequest, entry: Entry, task: Task) -> Answerer:
        if self._collected.recorded is not None:
            return RecordedAnswerer(self._collected.recorded, entry.responder.name, entry.name)
        key = (entry.responder.name, entry.testbed.nodeid)
        answerer = self._lasting.get(key)
        if answerer is None:
            try:
                system = self._system(request, entry)
            except Exception as error:
                self._fail_to_build(request, task, error)
            answerer = SystemAnswerer(system, entry.responder.name, self._loop)
            if entry.responder.lasting:
                self._lasting[key] = answerer
        if id(answerer.system) in self._broken:
            self._not_asked(request, task, self._broken[id(answerer.system)])
        return answerer

    def _system(self, request: pytest.FixtureRequest, entry: Entry) -> System:
        if not entry.responder.named:
            system: System = request.getfixturevalue("rag_system")
            if not callable(system):
                raise SystemContractError(
                    f"the rag_system fixture gave {type(system).__name__}, which cannot be called"
                )
            return system
        name = entry.responder.name
        if name not in self._named:
            if ":" in name and name not in self._collected.catalog.systems:
                self._named[name] = load_system(name)
            else:
                parts = SystemParts(
                    request.getfixturevalue("rag_retriever"),
                    request.getfixturevalue("rag_generator"),
                    self._collected.options.top_k,
                )
                self._named[name] = self._collected.catalog.systems.get(name)(parts)
        return self._named[name]

    def _fail_to_build(self, request: pytest.FixtureRequest, task: Task, error: Exception) -> NoReturn:
        known = self._broken.get((task.system, type(error), str(error)))
        if known is not None:
            self._not_asked(request, task, known)
        cause = str(error) if isinstance(error, RagEvalError) else f"{type(error).__name__}: {error}"
        message = f"system {task.system!r} could not be built: {cause}"
        self._broken[task.system, type(error), str(error)] = message
        trace = "" if isinstance(error, RagEvalError) else f"\n{shortest_traceback(error)}"
        self._keep(request, task, outcome_of(task, error=CaseError("system_build", message + trace)))
        pytest.fail(message + trace, pytrace=False)

    def _not_asked(self, request: pytest.FixtureRequest, task: Task, why: str) -> NoReturn:
        first = why.partition("\n")[0]
        outcome = outcome_of(task, error=CaseError(NOT_ASKED, first))
        self._keep(request, task, replace(outcome, status="skipped"))
        pytest.skip(f"not asked: {first}")

    def _keep(self, request: pytest.FixtureRequest, task: Task, outcome: Outcome) -> RagResult:
        result = RagResult(task.case, outcome, self._collected.catalog.metrics, self._runner)
        request.node.stash[RESULT] = result
        return result
