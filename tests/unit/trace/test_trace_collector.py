"""Collect the steps of one answer."""

import asyncio

from pytest_rageval.model.answer import Step
from pytest_rageval.trace.collector import Event, collecting, current_collector


def test_steps_are_sorted_by_start_and_parents_become_indexes() -> None:
    with collecting() as collector:
        tool = Event("tool", {"name": "search"}, start=2.0)
        collector.add(Event("retrieve", {"query": "x"}, start=3.0, parent=tool))
        collector.add(tool)
        collector.add(Event("completion", {}, start=1.0))
    assert collector.steps() == (
        Step("completion", {}),
        Step("tool", {"name": "search"}),
        Step("retrieve", {"query": "x", "parent": 1}),
    )


def test_sixteen_cases_at_once_collect_only_their_own_steps() -> None:
    async def case(number: int) -> tuple[Step, ...]:
        with collecting() as collector:
            for _ in range(5):
                await asyncio.sleep(0)
                case_collector = current_collector()
                assert case_collector is not None
                case_collector.add(Event("tool", {"name": str(number)}))
        return collector.steps()

    async def cases() -> list[tuple[Step, ...]]:
        return await asyncio.gather(*map(case, range(16)))

    for number, steps in enumerate(asyncio.run(cases())):
        assert steps == (Step("tool", {"name": str(number)}),) * 5


def test_outside_a_case_nothing_is_collected() -> None:
    assert current_collector() is None
