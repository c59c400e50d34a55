"""Find the next tests, and decide which of them may be answered ahead of their turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_rageval.hooks.config.fixture_overrides import foreign_fixtures, session_params
from pytest_rageval.hooks.config.process import is_worker
from pytest_rageval.hooks.run.work_stealing import StealGuard

__all__ = ["Upcoming", "may_be_skipped"]

HARMLESS = {
    "_hypothesis_pytestplugin", "allure_pytest", "anyio", "hypothesis", "pytest_asyncio", "pytest_benchmark",
    "pytest_cov", "pytest_html", "pytest_instafail", "pytest_jsonreport", "pytest_metadata", "pytest_mock",
    "pytest_randomly", "pytest_rerunfailures", "pytest_sugar", "pytest_timeout", "xdist",
}  # fmt: skip
"""Plugins whose hooks neither skip a test nor change what a system answers."""


class Upcoming:
    """The next tests of one process: the session's, or in an xdist worker those assigned to it."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._in_worker = is_worker(session.config)
        self._worker: Any = next((p for p in session.config.pluginmanager.get_plugins() if hasattr(p, "torun")), None)
        self._steals = bool(getattr(session.config, "workerinput", {}).get("rag_steals"))
        self._guard: StealGuard | None = None
        self._indexes: dict[int, int] = {}  # by id of the test; only with a guard
        if self._steals and hasattr(getattr(self._worker, "torun", None), "lock"):  # xdist before 3.7 has none
            self._guard = StealGuard(self._worker)
            self._indexes = {id(item): index for index, item in enumerate(session.items)}
            session.config.pluginmanager.register(self._guard, "rageval-steal-guard")
        self._position = 0
        self._is_ours_alone = not _foreign_hooks(session.config)
        self._foreign: dict[int, list[Any]] = {}

    def after(self, item: pytest.Item, most: int) -> Sequence[pytest.Item]:
        """Return up to ``most`` tests after ``item``."""
        items = self._session.items
        if self._in_worker:
            return [items[at] for at in self._queue()[:most]]
        if items[self._position] is not item:
            try:
                self._position = items.index(item, self._position)
            except ValueError:
                self._position = items.index(item)
        return items[self._position + 1 : self._position + 1 + most]

    def without_stealable(self, following: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
        """Return the tests that are not left to other workers: the first half under ``--dist worksteal``, else all."""
        return following[: (len(following) + 1) // 2] if self._steals else following

    def keep(self, item: pytest.Item) -> bool:
        """Keep a test of `after` in this worker; return False if another worker has stolen it."""
        return self._guard is None or self._guard.keep(self._indexes[id(item)])

    def shares_fixtures(self, item: pytest.Item, current: pytest.Item) -> bool:
        """Return whether ``item`` uses the same parameters of session-scoped fixtures as ``current``."""
        theirs = session_params(item)
        return all(theirs.get(name, at) == at for name, at in session_params(current).items())

    def _queue(self) -> list[int]:
        """Return the indexes of the tests assigned to this worker; none if xdist does not expose them."""
        if self._worker is None:
            return []
        lock = getattr(self._worker.torun, "lock", None)  # xdist before 3.7 has none
        if lock is None:
            return []
        with lock() as queued:
            return [at for at in (self._worker.nextitem_index, *queued) if isinstance(at, int)]

    def follows_directly(self, item: pytest.Item, current: pytest.Item) -> bool:
        """Return whether no foreign fixture is set up or torn down between ``current`` and ``item``.

        Such a fixture may change the answer, or skip or fail the test. Foreign hooks may do so at any time.
        """
        if not self._is_ours_alone:
            return False
        if _info(item) is not _info(current) and any(
            other.scope != "session" for other in self._foreign_fixtures(current)
        ):
            return False
        return all(self._is_set_up(definition, item, current) for definition in self._foreign_fixtures(item))

    def _foreign_fixtures(self, item: pytest.Item) -> list[Any]:
        info = _info(item)
        if info is None:  # not a test function: pytest lists no fixtures for it
            return []
        if id(info) not in self._foreign:
            self._foreign[id(info)] = foreign_fixtures(info)
        return self._foreign[id(info)]

    def _is_set_up(self, definition: Any, item: Any, current: Any) -> bool:
        if definition.scope == "function":
            return False
        if _info(item) is _info(current):
            name = definition.argname
            return bool(item.callspec.indices.get(name) == current.callspec.indices.get(name))
        result = definition.cached_result
        return definition.scope == "session" and not definition.params and result is not None and result[2] is None


def _info(item: pytest.Item) -> Any:
    return getattr(item, "_fixtureinfo", None)


def may_be_skipped(item: pytest.Item) -> bool:
    """Return whether a marker may skip a test or keep it from running."""
    if item.get_closest_marker("skip") or item.get_closest_marker("skipif"):
        return True
    return any(not mark.kwargs.get("run", True) for mark in item.iter_markers("xfail"))


def _foreign_hooks(config: pytest.Config) -> bool:
    """Return whether a conftest, or a plugin that is not in `HARMLESS`, has hooks that can skip or fail tests."""
    hooks = (config.hook.pytest_runtest_protocol, config.hook.pytest_runtest_setup, config.hook.pytest_fixture_setup)
    for implementation in (each for hook in hooks for each in hook.get_hookimpls()):
        plugin = implementation.plugin
        parts = str(getattr(plugin, "__name__", type(plugin).__module__)).split(".")
        if parts[-1] == "conftest" or parts[0] not in {"_pytest", "pytest_rageval", *HARMLESS}:
            return True
    return False
