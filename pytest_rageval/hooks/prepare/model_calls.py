"""Determine the model calls of each case, and the systems whose model calls are invisible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.hooks.collect.asking_tests import entries_of, is_request
from pytest_rageval.hooks.collect.testbed import Responder
from pytest_rageval.hooks.collect.workflows import workflow_of
from pytest_rageval.hooks.config.fixture_overrides import MODELS, overridden, reaches

if TYPE_CHECKING:
    from pytest_rageval.engine.planned_calls import CallPlanner, PlannedTask, PricedModel
    from pytest_rageval.engine.task import Task
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.hooks.prepare.workflow_plans import WorkflowPlans
    from pytest_rageval.model.case import Query
    from pytest_rageval.systems.workflow import PlannedRun

__all__ = ["direct_systems", "first_items", "own_systems", "planned_of", "planned_task"]


def planned_of(collected: Collected, items: Iterable[pytest.Item], *, asking: bool = False) -> list[PlannedTask]:
    """Return the planned model calls of each case, with tokenizers and prices.

    Args:
        collected: the session.
        items: the tests that will run.
        asking: whether to also plan one request to each system that a test asks with ``rag_ask``.
    """
    from pytest_rageval.engine.task import Task

    plan_task = _planner(collected)
    planned: list[PlannedTask] = []
    for item, entry in _cases(items):
        if is_request(entry) and not asking:
            continue
        testbed, case = entry.testbed, entry.case if is_request(entry) else collected.session_case(entry)
        name = "recorded answers" if testbed.recorded is not None else entry.responder.name
        task = Task(item.nodeid, testbed.nodeid, name, case, tuple(testbed.metrics.values()))
        planned.append(plan_task(item, entry, task))
    return planned


def planned_task(collected: Collected, item: pytest.Item, entry: Entry, task: Task) -> PlannedTask:
    """Return the planned model calls of one task for the system of an entry."""
    return _planner(collected)(item, entry, task)


def _planner(collected: Collected) -> Callable[[pytest.Item, Entry, Task], PlannedTask]:
    """Return a function that plans tasks, with the tokenizers and prices of the session's models."""
    from pytest_rageval.engine.planned_calls import PlannedTask

    pricing = cache(partial(_pricing, collected))
    names = {fixture: collected.models.setting(fixture).name for fixture in MODELS}
    panel_prices = {name: pricing("rag_judge", name) for name in collected.options.panelists}
    plans = _Plans(collected)

    def plan_task(item: pytest.Item, entry: Entry, task: Task) -> PlannedTask:
        model, judge = (
            fixture if overridden(fixture, item) else pricing(fixture, names[fixture]) for fixture in MODELS
        )
        panelists = {**panel_prices, "rag_judge": judge}
        if entry.responder.model:
            model = pricing("rag_llm", entry.responder.model)
        models = {name: pricing("rag_llm", name) for name in plans.workflows.models_of(entry.responder)}
        plan = _plan_of(plans, entry, item)
        return PlannedTask(task, plan, model, judge, models, collected.panels, panelists)

    return plan_task


def first_items(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the test of the first case of each testbed and system; the other cases call the same models."""
    first: dict[object, pytest.Item] = {}
    for item, entry in _cases(items):
        first.setdefault((entry.testbed, entry.responder), item)
    return list(first.values())


def own_systems(collected: Collected, items: Iterable[pytest.Item]) -> dict[str, str]:
    """Return name -> name or fixture for messages, for each system that is the user's code."""
    return dict(_names_of(entry, item) for item, entry in _unplanned_cases(collected, items))


def direct_systems(collected: Collected, items: Iterable[pytest.Item]) -> dict[str, str]:
    """Return the `own_systems` that may ask models directly: they do not use the fixture ``rag_llm``.

    The option ``rag_record_http`` makes their calls visible, if it names the right hosts.
    """
    cases = _unplanned_cases(collected, items)
    return dict(_names_of(entry, item) for item, entry in cases if not _asks_rag_llm(collected, entry, item))


def _unplanned_cases(collected: Collected, items: Iterable[pytest.Item]) -> Iterator[tuple[pytest.Item, Entry]]:
    """Yield the first case of each testbed and system whose model calls cannot be planned."""
    plans = _Plans(collected)
    return (each for each in _cases(first_items(items)) if _plan_of(plans, each[1], each[0]) is None)


class _Plans:
    """Creates the plans of workflows when a system first needs them: their import takes time.

    Args:
        collected: the session.
    """

    def __init__(self, collected: Collected) -> None:
        self.collected = collected

    @cached_property
    def workflows(self) -> WorkflowPlans:
        """The plans of all workflows of the session."""
        from pytest_rageval.hooks.prepare.workflow_plans import WorkflowPlans

        return WorkflowPlans(self.collected)


def _cases(items: Iterable[pytest.Item]) -> Iterator[tuple[pytest.Item, Entry]]:
    """Yield each test with its case, or with the entries of its requests by ``rag_ask``."""
    for item in items:
        for entry in entries_of(item):
            yield item, entry


def _plan_of(plans: _Plans, entry: Entry, item: pytest.Item) -> CallPlanner | None:
    """Return the function that plans the model calls of a case's system; None if they are unknown."""
    collected, responder = plans.collected, entry.responder
    if entry.testbed.recorded is not None:
        return _plan_no_calls
    if not responder.named:
        if _system_fixture(item):
            return None
        has_model = collected.models.setting("rag_llm").name is not None or overridden("rag_llm", item) is not None
        return plans.workflows.of(Responder("llm" if has_model else "extractive", named=True), entry, item)
    system = collected.named.get(responder.kind)
    if system is None:
        return plans.workflows.of(responder, entry, item)
    from pytest_rageval.llm.recorded_functions.recorded import is_recorded

    return _plan_no_calls if collected.options.record_mode == "none" and is_recorded(system) else None


def _plan_no_calls(query: Query) -> PlannedRun:
    from pytest_rageval.systems.workflow import NO_CALLS

    return NO_CALLS


def _asks_rag_llm(collected: Collected, entry: Entry, item: pytest.Item) -> bool:
    """Return whether a system asks only the model of the fixture ``rag_llm``, as all workflows do."""
    if entry.responder.named:
        return workflow_of(collected, entry.responder) is not None
    return reaches("rag_llm", [_system_fixture(item) or "rag_retriever"], item)


def _names_of(entry: Entry, item: pytest.Item) -> tuple[str, str]:
    """Return a system's name, and how messages call it: by the same name, or by the user's fixture."""
    name = entry.responder.name
    return name, name if entry.responder.named else f"the fixture {_system_fixture(item) or 'rag_retriever'}"


def _system_fixture(item: pytest.Item) -> str:
    """Return the user's fixture that answers if no option names a system; "" if there is none."""
    return next((name for name in ("rag_system", "rag_generator") if overridden(name, item) is not None), "")


def _pricing(collected: Collected, fixture: str, name: str | None) -> PricedModel | None:
    """Return the tokenizer and prices of a model with the parameters of a fixture; None without a name."""
    if name is None:
        return None
    from pytest_rageval.engine.planned_calls import PricedModel
    from pytest_rageval.llm.backends.prices import Prices, count_tokens

    params = collected.models.setting(fixture).params
    return PricedModel(
        name=name,
        count=partial(count_tokens, name),
        cost=Prices(name, params).cost,
        max_tokens=params.get("max_completion_tokens") or params.get("max_tokens"),
        recorded=collected.models.named(fixture, name).replays,
    )
