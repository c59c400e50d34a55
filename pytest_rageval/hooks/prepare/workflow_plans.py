"""Plan the model calls of workflows, for dry runs and budgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_rageval.environments import Environment
from pytest_rageval.environments.choice import Environments
from pytest_rageval.hooks.collect.workflows import setup_of, workflow_of
from pytest_rageval.hooks.config.fixture_overrides import overridden, reaches
from pytest_rageval.hooks.prepare.environments import environment_of_case
from pytest_rageval.model.current import CASE_ENVIRONMENT
from pytest_rageval.systems.parts import SystemParts

if TYPE_CHECKING:
    import pytest

    from pytest_rageval.engine.planned import Plan
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry, Responder
    from pytest_rageval.model.case import Query
    from pytest_rageval.systems.workflow import AnyWorkflow, PlannedRun

__all__ = ["WorkflowPlans"]


class WorkflowPlans:
    """Plans the model calls of workflows; reads the options of each system once.

    Args:
        collected: the session.
    """

    def __init__(self, collected: Collected) -> None:
        self.collected = collected
        self._read: dict[Responder, tuple[AnyWorkflow, SystemParts, Any] | None] = {}

    def of(self, responder: Responder, entry: Entry, item: pytest.Item) -> Plan | None:
        """Return the plan of a system for one case; None if it is no workflow, or its calls are unknown.

        Args:
            responder: the system.
            entry: the case.
            item: its test.

        Raises:
            RagEvalError: the case has no environment.
        """
        if responder not in self._read:
            self._read[responder] = self._options(responder)
        known = self._read[responder]
        if known is None or known[0].plan is None or (known[0].retrieves and _retriever_asks(item)):
            return None
        workflow, parts, options = known
        plan = known[0].plan
        if not workflow.uses_environments:  # the plan of a chain needs none
            return lambda query: plan(options, query, parts)
        return _with_environment(
            lambda query, given: plan(options, query, replace(parts, environments=given)),
            entry.case.facets.get("environment", ""),
            environment_of_case(self.collected, entry, item),
        )

    def models_of(self, responder: Responder) -> tuple[str, ...]:
        """Return the models that the file of a system names."""
        if responder not in self._read:
            self._read[responder] = self._options(responder)
        known = self._read[responder]
        return known[0].needs(known[2]).models if known is not None and known[0].needs is not None else ()

    def _options(self, responder: Responder) -> tuple[AnyWorkflow, SystemParts, Any] | None:
        workflow = workflow_of(self.collected, responder)
        if workflow is None:
            return None
        collected, setup = self.collected, setup_of(self.collected, responder)
        parts = SystemParts(top_k=collected.options.top_k, prompts=collected.models.prompts, setup=setup)
        return workflow, parts, workflow.read(setup)


def _with_environment(
    plan: Callable[[Query, Environments], PlannedRun], facet: str, environment: Environment | None
) -> Plan:
    """Return a plan that sees the environment of its case, or one without tools if a fixture decides it."""
    used = environment or Environment(facet or "environment", lambda: tuple)
    environments = Environments({used.name: lambda: used})

    def of(query: Query) -> PlannedRun:
        token = CASE_ENVIRONMENT.set(facet)
        try:
            run = plan(query, environments)
        finally:
            CASE_ENVIRONMENT.reset(token)
        return replace(run, final=run.final and environment is not None)

    return of


def _retriever_asks(item: pytest.Item) -> bool:
    """Return whether a user's retriever may ask the session's model."""
    return overridden("rag_retriever", item) is not None and reaches("rag_llm", ["rag_retriever"], item)
