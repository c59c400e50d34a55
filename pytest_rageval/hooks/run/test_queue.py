"""Which tests come next, and which of them may be answered before their turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_rageval.hooks.config.fixture_overrides import foreign_fixtures, session_params
from pytest_rageval.hooks.config.process import is_worker

__all__ = ["Upcoming", "may_be_skipped"]

HARMLESS = {
    "_hypothesis_pytestplugin", "allure_pytest", "anyio", "hypothesis", "pytest_asyncio", "pytest_benchmark",
    "pytest_cov", "pytest_html", "pytest_instafail", "pytest_jsonreport", "pytest_metadata", "pytest_mock",
    "pytest_randomly", "pytest_rerunfailures", "pytest_sugar", "pytest_timeout", "xdist",
}  # fmt: skip
"""Plugins whose hooks neither skip a test nor change what a system answers."""


class Upcoming:
    """The tests that follow in one process: without xdist the session's, in a worker those assigned to it."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._in_worker = is_worker(session.config)
        self._worker: Any = next((p for p in session.config.pluginmanager.get_plugins() if hasattr(p, "torun")), None)
        self._steals = bool(getattr(session.config, "workerinput", {}).get("rag_steals"))
        self._at = 0
        self._decided = not _others_decide(session.config)
        self._foreign: dict[int, list[Any]] = {}

    def after(self, item: pytest.Item, most: int) -> Sequence[pytest.Item]:
        """Return the next tests after ``item``, at most ``most``."""
        items = self._session.items
        if self._in_worker:
            return [items[at] for at in self._queue()[:most]]
        if items[self._at] is not item:
            try:
                self._at = items.index(item, self._at)
            except ValueError:
                self._at = items.index(item)
        return items[self._at + 1 : self._at + 1 + most]

    def kept(self, following: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
        """Return those that another worker does not take: under ``--dist worksteal`` the first half, else all."""
        return following[: (len(following) + 1) // 2] if self._steals else following

    def shares_fixtures(self, item: pytest.Item, current: pytest.Item) -> bool:
        """Return whether no session-scoped fixture of the current test has another parameter in the test ``item``."""
        theirs = session_params(item)
        return all(theirs.get(name, at) == at for name, at in session_params(current).items())

    def _queue(self) -> list[int]:
        """Return the numbers of the tests that are assigned to this worker; none where xdist does not tell."""
        if self._worker is None:
            return []
        lock = getattr(self._worker.torun, "lock", None)  # xdist before 3.7 has none
        if lock is None:
            return []
        with lock() as queued:
            return [at for at in (self._worker.nextitem_index, *queued) if isinstance(at, int)]

    def follows_directly(self, item: pytest.Item, current: pytest.Item) -> bool:
        """Return whether no fixture of others is torn down or set up between the test ``current`` and ``item``.

        Such a fixture may change what is answered, or skip or fail the test; so may hooks of others at any time.
        """
        if not self._decided:
            return False
        if _info(item) is not _info(current) and any(other.scope != "session" for other in self._others(current)):
            return False
        return all(self._is_set_up(definition, item, current) for definition in self._others(item))

    def _others(self, item: pytest.Item) -> list[Any]:
        info = _info(item)
        if info is None:  # no test function: it has no fixtures that pytest tells of
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
    """Return whether a marker may have a test skipped, or not run."""
    if item.get_closest_marker("skip") or item.get_closest_marker("skipif"):
        return True
    return any(not mark.kwargs.get("run", True) for mark in item.iter_markers("xfail"))


def _others_decide(config: pytest.Config) -> bool:
    """Return whether a conftest, or a plugin that is not known for harmless, has a say in whether tests are run."""
    hooks = (config.hook.pytest_runtest_protocol, config.hook.pytest_runtest_setup, config.hook.pytest_fixture_setup)
    for implementation in (found for hook in hooks for found in hook.get_hookimpls()):
        plugin = implementation.plugin
        parts = str(getattr(plugin, "__name__", type(plugin).__module__)).split(".")
        if parts[-1] == "conftest" or parts[0] not in {"_pytest", "pytest_rageval", *HARMLESS}:
            return True
    return False
