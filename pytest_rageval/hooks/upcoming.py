"""Which tests come next, and which of them may be answered before their turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_rageval.hooks.keys import is_worker
from pytest_rageval.hooks.overrides import foreign_fixtures, session_params

__all__ = ["Upcoming"]


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
        with self._worker.torun.lock() as queued:
            return [at for at in (self._worker.nextitem_index, *queued) if isinstance(at, int)]

    def may_be_asked(self, item: pytest.Item, current: pytest.Item) -> bool:
        """Return whether nothing that runs before the answer of ``item`` could still skip or fail its test.

        Markers that skip, and fixtures of others that are not set up yet, could; so could hooks of others.
        """
        if not self._decided or _may_be_skipped(item):
            return False
        return all(self._is_set_up(definition, item, current) for definition in self._others(item))

    def _others(self, item: pytest.Item) -> list[Any]:
        info: Any = item._fixtureinfo  # type: ignore[attr-defined]
        if id(info) not in self._foreign:
            self._foreign[id(info)] = foreign_fixtures(info)
        return self._foreign[id(info)]

    def _is_set_up(self, definition: Any, item: Any, current: Any) -> bool:
        if definition.scope == "function":
            return False
        if item._fixtureinfo is current._fixtureinfo:
            name = definition.argname
            return bool(item.callspec.indices.get(name) == current.callspec.indices.get(name))
        result = definition.cached_result
        return definition.scope == "session" and not definition.params and result is not None and result[2] is None


def _may_be_skipped(item: pytest.Item) -> bool:
    if item.get_closest_marker("skip") or item.get_closest_marker("skipif"):
        return True
    return any(not mark.kwargs.get("run", True) for mark in item.iter_markers("xfail"))


def _others_decide(config: pytest.Config) -> bool:
    """Return whether a conftest, or a plugin that is not installed, has a say in whether and how tests are set up."""
    installed = {type(plugin) if not hasattr(plugin, "__name__") else plugin.__name__.partition(".")[0]
                 for plugin, _ in config.pluginmanager.list_plugin_distinfo()}  # fmt: skip
    hooks = (config.hook.pytest_runtest_protocol, config.hook.pytest_runtest_setup, config.hook.pytest_fixture_setup)
    for implementation in (found for hook in hooks for found in hook.get_hookimpls()):
        plugin = implementation.plugin
        parts = str(getattr(plugin, "__name__", type(plugin).__module__)).split(".")
        if parts[-1] == "conftest" or parts[0] not in {"_pytest", "pytest_rageval", *installed}:
            return True
    return False
