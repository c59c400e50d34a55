"""Find the next tests, and decide which of their cases may be asked ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_rageval.hooks.config.fixture_overrides import foreign_fixtures, session_params
from pytest_rageval.hooks.config.process import is_worker
from pytest_rageval.hooks.run.work_stealing import StealGuard

__all__ = ["UpcomingTests", "may_be_skipped"]

HARMLESS = {
    "_hypothesis_pytestplugin", "allure_pytest", "anyio", "hypothesis", "pytest_asyncio", "pytest_benchmark",
    "pytest_cov", "pytest_html", "pytest_instafail", "pytest_jsonreport", "pytest_metadata", "pytest_mock",
    "pytest_randomly", "pytest_rerunfailures", "pytest_sugar", "pytest_timeout", "xdist",
}  # fmt: skip
"""Plugins whose hooks neither skip tests nor change what a system answers."""


class UpcomingTests:
    """The next tests of one process: all tests of the session, or in an xdist worker those assigned to it."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._in_worker = is_worker(session.config)
        self._worker: Any = next((p for p in session.config.pluginmanager.get_plugins() if hasattr(p, "torun")), None)
        self._steals = bool(getattr(session.config, "workerinput", {}).get("rag_steals"))
        self._guard: StealGuard | None = None
        self._indexes: dict[int, int] = {}  # id() of a test -> its index; only with a guard
        if self._steals and hasattr(getattr(self._worker, "torun", None), "lock"):  # xdist before 3.7 has none
            self._guard = StealGuard(self._worker)
            self._indexes = {id(item): index for index, item in enumerate(session.items)}
            session.config.pluginmanager.register(self._guard, "rageval-steal-guard")
        self._position = 0
        self._has_no_foreign_hooks = not _foreign_hooks(session.config)
        self._foreign: dict[int, list[Any]] = {}

    def after(self, item: pytest.Item, limit: int) -> Sequence[pytest.Item]:
        """Return up to ``limit`` tests after ``item``."""
        items = self._session.items
        if self._in_worker:
            return [items[at] for at in self._queue()[:limit]]
        if items[self._position] is not item:
            try:
                self._position = items.index(item, self._position)
            except ValueError:
                self._position = items.index(item)
        return items[self._position + 1 : self._position + 1 + limit]

    def without_stealable(self, following: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
        """Return the tests that other workers will not steal: the first half with ``--dist worksteal``, else all."""
        return following[: (len(following) + 1) // 2] if self._steals else following

    def keep(self, item: pytest.Item) -> bool:
        """Keep a test in this worker, so that its case can be asked ahead; return False if it was already stolen."""
        return self._guard is None or self._guard.keep(self._indexes[id(item)])

    def shares_fixtures(self, item: pytest.Item, current: pytest.Item) -> bool:
        """Return whether ``item`` uses the same parameters of session-scoped fixtures as ``current``."""
        params = session_params(item)
        return all(params.get(name, index) == index for name, index in session_params(current).items())

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
        """Return whether no fixture or hook of the user runs between ``current`` and ``item``.

        A user's fixture or hook may change the answer, or skip or fail the test.
        """
        if not self._has_no_foreign_hooks:
            return False
        if _info(item) is not _info(current) and any(
            other.scope != "session" for other in self._foreign_fixtures(current)
        ):
            return False
        return all(self._is_set_up(definition, item, current) for definition in self._foreign_fixtures(item))

    def _foreign_fixtures(self, item: pytest.Item) -> list[Any]:
        """Return the fixtures of a test that are not this plugin's."""
        info = _info(item)
        if info is None:  # not a test function: pytest lists no fixtures for it
            return []
        if id(info) not in self._foreign:
            self._foreign[id(info)] = foreign_fixtures(info)
        return self._foreign[id(info)]

    def _is_set_up(self, definition: Any, item: Any, current: Any) -> bool:
        """Return whether a fixture of ``item`` is already set up with the same parameter, and stays so."""
        if definition.scope == "function":
            return False
        if _info(item) is _info(current):
            name = definition.argname
            return bool(item.callspec.indices.get(name) == current.callspec.indices.get(name))
        result = definition.cached_result  # value, cache key and exception
        return definition.scope == "session" and not definition.params and result is not None and result[2] is None


def _info(item: pytest.Item) -> Any:
    """Return what pytest knows of the fixtures of a test function, which all its cases share; None for others."""
    return getattr(item, "_fixtureinfo", None)


def may_be_skipped(item: pytest.Item) -> bool:
    """Return whether a marker may skip a test, or mark it as not to be run."""
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
