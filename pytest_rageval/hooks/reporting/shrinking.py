"""``--rag-shrink``: search for the smallest contexts of the worst missed cases at the end."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.errors import SettingError, message_with_code
from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY
from pytest_rageval.hooks.reporting.keys import RECORDER

if TYPE_CHECKING:
    from pytest_rageval.generation.shrinking.shrink_result import ShrinkResult

__all__ = ["Shrinking", "refuse_workers"]


class _AfterCases(pytest.Item):
    """An item after the last test; it keeps session-scoped fixtures set up until the cases are shrunk."""

    def runtest(self) -> None:
        """Do nothing."""

    def reportinfo(self) -> tuple[str, None, str]:
        """Return an empty location: reports do not show it."""
        return "", None, self.name


class Shrinking:
    """Plugin of ``--rag-shrink``: shrinks after the last test, and prints a section.

    Args:
        max_cases: the maximum number of cases to shrink.
    """

    def __init__(self, max_cases: int) -> None:
        self._max_cases = max_cases
        self._results: dict[str, ShrinkResult | str] = {}  # name of a test -> its smallest context, or why none
        self._n_missed = 0
        self._is_complete = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Add an item after the last test."""
        last_item = _AfterCases.from_parent(session, name="rag-shrink")
        collected = session.config.stash.get(COLLECTED, None)
        if collected is not None and (session.items or collected.resumed_items):
            session.items.append(last_item)
        try:
            return (yield)
        finally:
            session.items[:] = [item for item in session.items if item is not last_item]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Shrink the cases instead of running the item after the last test."""
        if not isinstance(item, _AfterCases):
            return None
        from pytest_rageval.hooks.run.shrinking import shrink, with_names

        for name, test in with_names(self._worst(item.session)):
            self._results[name] = shrink(test, item)
        self._is_complete = True
        item.session._setupstate.teardown_exact(nextitem)
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the section."""
        config = terminalreporter.config
        if COLLECTED not in config.stash:
            return
        from pytest_rageval.report.terminal.shrunk_contexts import shrunk_lines

        terminalreporter.section("rag: shrunk")
        texts = config.stash[COLLECTED].options.texts
        lines = (
            list(shrunk_lines(self._results, texts=texts)) if self._results else ["no case missed; nothing to shrink"]
        )
        if not self._is_complete:
            lines = [*(lines if self._results else ()), "the session ended before all missed cases were shrunk"]
        if self._n_missed > len(self._results) > 0:
            lines.append(f"{self._n_missed - len(self._results)} more cases missed; give --rag-shrink={self._n_missed}")
        for line in lines:
            terminalreporter.write_line(line)

    def _worst(self, session: pytest.Session) -> list[pytest.Item]:
        """Return the tests of the missed cases without variants, the worst value of the primary metric first.

        Cases taken over from a resumed run count too. A case that missed in several repeats counts once.
        """
        from pytest_rageval.analysis.misses import is_miss
        from pytest_rageval.model.facets import is_variant

        recorder = session.config.stash.get(RECORDER, None)
        outcomes = {} if recorder is None else recorder.run.outcomes
        missed_cases: dict[tuple[str, str, str], tuple[float, pytest.Item]] = {}
        for item in (*session.config.stash[COLLECTED].resumed_items, *session.items):
            outcome = outcomes.get(item.nodeid)
            if outcome is None or ENTRY not in item.stash or is_variant(outcome.facets):
                continue
            entry = item.stash[ENTRY]
            testbed = entry.testbed
            primary = next(iter(testbed.metrics.values()))
            if is_miss(outcome, primary.name, primary.higher_is_better, testbed.gates):
                value = outcome.scores[primary.name].value or 0.0
                value = value if primary.higher_is_better else -value
                case = testbed.nodeid, entry.name, entry.responder.name
                missed_cases[case] = min(missed_cases.get(case, (value, item)), (value, item), key=_value)
        self._n_missed = len(missed_cases)
        return [item for _, item in sorted(missed_cases.values(), key=_value)][: self._max_cases]


def _value(case: tuple[float, pytest.Item]) -> float:
    return case[0]


def refuse_workers(config: pytest.Config) -> None:
    """Refuse ``--rag-shrink`` with xdist's workers: the process that knows the worst cases has no system."""
    if getattr(config.option, "dist", "no") != "no":
        how = "leave -n out (give -n0), or run `rageval shrink CASE` afterwards"
        error = SettingError(f"--rag-shrink asks in one process; {how}", code="RAG103")
        raise pytest.UsageError(message_with_code(error))
