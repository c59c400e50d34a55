"""Plan the model calls of workflows, for dry runs and budgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_rageval.environments import Environment
from pytest_rageval.environments.choice import Environments
from pytest_rageval.hooks.collect.workflows import needs_of, setup_of, workflow_of
from pytest_rageval.hooks.config.fixture_overrides import overridden, reaches
from pytest_rageval.hooks.prepare.environments import environment_of_case
from pytest_rageval.model.current import CASE_ENVIRONMENT
from pytest_rageval.systems.parts import SystemParts

if TYPE_CHECKING:
    import pytest

    from pytest_rageval.engine.planned_calls import CallPlanner
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry, Responder
    from pytest_rageval.model.case import Query
    from pytest_rageval.systems.workflow import AnyWorkflow, PlannedRun

__all__ = ["WorkflowPlans"]


class WorkflowPlans:
    """Plans the model calls of workflows; reads the options of a system only once.

    Args:
        collected: the session.
    """

    def __init__(self, collected: Collected) -> None:
        self.collected = collected
        self._setups: dict[Responder, tuple[SystemParts, Any]] = {}
        self._models: dict[Responder, tuple[str, ...]] = {}

    def of(self, responder: Responder, entry: Entry, item: pytest.Item) -> CallPlanner | None:
        """Return the plan of a system for one case; None if it is no workflow, or if its calls are unknown.

        The plan raises `RagEvalError` if the case has no environment, or a file of prompts is invalid.

        Args:
            responder: the system.
            entry: the case.
            item: its test.
        """
        workflow = workflow_of(self.collected, responder)
        if workflow is None or workflow.plan is None or (workflow.retrieves and _retriever_may_call_model(item)):
            return None
        plan = workflow.plan

        def plan_case(query: Query) -> PlannedRun:
            parts, options = self._parts_and_options(workflow, responder)
            if not workflow.uses_environments:  # such as a chain
                return plan(options, query, parts)
            environment = environment_of_case(self.collected, entry, item)
            facet = entry.case.facets.get("environment", "")
            run = _plan_in_environment(
                lambda environments: plan(options, query, replace(parts, environments=environments)), facet, environment
            )
            return replace(run, final=run.final and environment is not None)

        return plan_case

    def models_of(self, responder: Responder) -> tuple[str, ...]:
        """Return the models that a system's file names."""
        if responder not in self._models:
            needs = needs_of(self.collected, responder)
            self._models[responder] = () if needs is None else needs.models
        return self._models[responder]

    def _parts_and_options(self, workflow: AnyWorkflow, responder: Responder) -> tuple[SystemParts, Any]:
        if responder not in self._setups:
            collected, setup = self.collected, setup_of(self.collected, responder)
            parts = SystemParts(top_k=collected.options.top_k, prompts=collected.models.prompts, setup=setup)
            self._setups[responder] = parts, workflow.read(setup)
        return self._setups[responder]


def _plan_in_environment(
    plan: Callable[[Environments], PlannedRun], facet: str, environment: Environment | None
) -> PlannedRun:
    """Return the plan of a case in its environment.

    Args:
        plan: plans a case, given the environments.
        facet: the facet ``environment`` of the case; "" if it has none.
        environment: the environment of the case; None if a fixture creates it; the plan then has no tools.
    """
    planned_in = environment or Environment(facet or "environment", lambda: tuple)
    token = CASE_ENVIRONMENT.set(facet)
    try:
        return plan(Environments({planned_in.name: lambda: planned_in}))
    finally:
        CASE_ENVIRONMENT.reset(token)


def _retriever_may_call_model(item: pytest.Item) -> bool:
    """Return whether a user's retriever may call the session's model."""
    return overridden("rag_retriever", item) is not None and reaches("rag_llm", ["rag_retriever"], item)
