"""``--rag-dry-run``: count what a session would ask, and run nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_rageval.errors import RagEvalError
from pytest_rageval.hooks.keys import COLLECTED, ENTRY
from pytest_rageval.hooks.overrides import MODELS, overridden

if TYPE_CHECKING:
    from pytest_rageval.engine.estimate import Estimate, Pricing
    from pytest_rageval.hooks.collected import Collected
    from pytest_rageval.hooks.testbed import Entry

__all__ = ["DryRun", "stay_in_one_process"]


class DryRun:
    """A plugin of a session that only counts."""

    def __init__(self) -> None:
        self._found: list[Estimate] | None = None
        self._names: dict[str, str] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Count instead of running; what could not be collected fails the session as it always does."""
        if session.testsfailed:
            return None
        if COLLECTED not in session.config.stash:
            self._found = []
            return True
        collected = session.config.stash[COLLECTED]
        try:
            self._found = _estimates(collected, session.items)
        except RagEvalError as error:
            raise pytest.UsageError(str(error)) from None
        self._names = {nodeid: testbed.name for nodeid, testbed in collected.testbeds.items()}
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table."""
        if self._found is None:
            return
        terminalreporter.section("rag: dry run")
        if not self._found:
            terminalreporter.write_line("no RAG case would run")
            return
        from pytest_rageval.report.terminal.dry_run import dry_run_lines

        for line in dry_run_lines(self._found, self._names):
            terminalreporter.write_line(line)


def stay_in_one_process(config: pytest.Config) -> None:
    """Take back what ``-n`` asked for: counting takes no workers."""
    if hasattr(config.option, "tx"):
        config.option.dist, config.option.tx, config.option.numprocesses = "no", [], None


def _estimates(collected: Collected, items: Sequence[pytest.Item]) -> list[Estimate]:
    from pytest_rageval.engine.asking import Task
    from pytest_rageval.engine.estimate import Planned, estimates

    priced = cache(partial(_pricing, collected))
    named = {fixture: collected.models.setting(fixture).name for fixture in MODELS}
    others = {name: priced("rag_judge", name) for name in collected.options.panelists}
    planned: list[Planned] = []
    for item in items:
        entry = item.stash.get(ENTRY, None)
        if entry is None:
            continue
        testbed, how = entry.testbed, _how(collected, entry)
        name = "recorded answers" if testbed.recorded is not None else entry.responder.name
        task = Task(item.nodeid, testbed.nodeid, name, collected.session_case(entry), tuple(testbed.metrics.values()))
        model, judge = (fixture if overridden(fixture, item) else priced(fixture, named[fixture]) for fixture in MODELS)
        panelists = {**others, "rag_judge": judge}
        planned.append(Planned(task, how, model, judge, collected.options.top_k, collected.panels, panelists))
    return estimates(planned, collected.models.prompts)


def _how(collected: Collected, entry: Entry) -> Literal["model", "none", "own"]:
    """Return whom the system of a case would ask."""
    from pytest_rageval.engine.estimate import BUILT_IN

    name = entry.responder.name
    if entry.testbed.recorded is not None or (entry.responder.named and name == "extractive"):
        return "none"
    return "model" if entry.responder.named and name in BUILT_IN else "own"


def _pricing(collected: Collected, fixture: str, name: str | None) -> Pricing | None:
    """Return the tokenizer and prices of a model that is asked as a fixture's is; None where the options name none."""
    if name is None:
        return None
    from pytest_rageval.engine.estimate import Pricing
    from pytest_rageval.llm.backends.prices import Prices, count_tokens

    params = collected.models.setting(fixture).params
    return Pricing(
        name=name,
        count=partial(count_tokens, name),
        cost=Prices(name, params).cost,
        max_tokens=params.get("max_completion_tokens") or params.get("max_tokens"),
        recorded=collected.models.named(fixture, name).replays,
    )
