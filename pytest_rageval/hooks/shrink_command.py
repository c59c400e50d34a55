"""Shrink the cases of tests for the command ``rageval shrink``, without running the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.generation.shrinking.shrink_result import ShrinkResult
from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY, RUN_FOLDER
from pytest_rageval.hooks.config.process import WITHOUT_TESTS
from pytest_rageval.hooks.run.dry_run import stay_in_one_process
from pytest_rageval.hooks.run.shrinking import shrink, with_names
from pytest_rageval.model.case import Case

__all__ = ["ShrunkCase", "shrink_tests"]


@dataclass(frozen=True, slots=True)
class ShrunkCase:
    """A case after the search.

    Attributes:
        name: the name of its test, or the node id if another test has the same name.
        case: the case.
        result: its smallest context, or a sentence why there is none.
        texts: whether texts of questions, answers and passages may be shown.
    """

    name: str
    case: Case
    result: ShrinkResult | str
    texts: bool


def shrink_tests(nodeids: Sequence[str], *, limit: int, confirm: int) -> list[ShrunkCase]:
    """Return the smallest context of each case of these tests.

    Args:
        nodeids: node ids of tests, or of functions and files with tests.
        limit: maximum number of requests for a case.
        confirm: how often to ask a smallest context to confirm it.

    Raises:
        SettingError: pytest cannot collect the tests, or none of them is a case.
    """
    plugin = _ShrinkOnly(limit, confirm)
    status = pytest.main(["-W", "ignore::pytest.PytestAssertRewriteWarning", "-qq", "--no-header", *nodeids], [plugin])
    if plugin.results is None:
        raise SettingError(f"pytest cannot collect {nodeids[0]}: it ended with status {int(status)}")
    if not plugin.results:
        raise SettingError(f"{nodeids[0]} is not a RAG case; give the node id of a test, or the id of a case of a run")
    return plugin.results


class _ShrinkOnly:
    """Plugin that shrinks the collected cases instead of running tests."""

    def __init__(self, limit: int, confirm: int) -> None:
        self._limit = limit
        self._confirm = confirm
        self.results: list[ShrunkCase] | None = None  # None before the tests are collected

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        """Run in one process, without reports of a run."""
        setattr(config.option, WITHOUT_TESTS, True)
        stay_in_one_process(config)

    def pytest_collection(self, session: pytest.Session) -> None:
        """Write no folder of a run."""
        session.config.stash[RUN_FOLDER] = lambda: None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Shrink each case."""
        if session.testsfailed:
            return None
        self.results = []
        cases = [item for item in session.items if ENTRY in item.stash]
        collected = session.config.stash[COLLECTED] if cases else None
        for (name, item), following in zip(with_names(cases), [*cases[1:], None], strict=True):
            if collected is not None:
                result = shrink(item, following, self._limit, self._confirm)
                case = collected.session_case(item.stash[ENTRY])
                self.results.append(ShrunkCase(name, case, result, collected.options.texts))
        return True
