"""Make no pytest items for deselected cases, if only this plugin selects cases."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED
from pytest_rageval.hooks.collect.selection import deselected

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Entry

__all__ = ["cases_with_item", "cases_without_item", "report_cases_without_item"]

Cases = Sequence[tuple[str, "Entry"]]
"""The cases of a test function, each with its parameter id."""

_HARMLESS = {"_hypothesis_pytestplugin", "_pytest", "anyio", "pytest_rageval", "xdist"}
"""Packages whose hooks neither select tests nor read deselected ones; that of anyio adds a fixture to coroutines."""

_ITEM_HOOKS = (
    "pytest_collection_modifyitems", "pytest_collectreport", "pytest_deselected", "pytest_generate_tests",
    "pytest_itemcollected", "pytest_make_collect_report", "pytest_pycollect_makeitem",
)  # fmt: skip
"""Hooks that get test items before this plugin deselects cases."""

_LATE_HOOKS = ("pytest_collection_modifyitems", "pytest_collectreport", "pytest_deselected")
"""The hooks among them that may still get a case's items after all are collected."""


@dataclass(frozen=True, slots=True)
class _PartialFunction:
    """A test function that has no items for its deselected cases.

    Attributes:
        definition: pytest's definition of the function.
        cases: all its cases.
        deselected: the cases without an item.
    """

    definition: pytest.Function
    cases: Cases
    deselected: Sequence[Entry]


class _EarlySelection:
    """A pytest plugin that remembers the deselected cases of this process.

    Attributes:
        functions: the functions that have no items for some cases.
        all_cases: while the items of one function are made again, all its cases; else None.
    """

    def __init__(self) -> None:
        self.functions: list[_PartialFunction] = []
        self.all_cases: Cases | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Make the missing items after all if a conftest, loaded after the first case, has a hook that gets them."""
        if _has_foreign(config, _LATE_HOOKS):
            for function in self.functions:
                self.all_cases = function.cases
                _make_all(function.definition, items)
            self.functions, self.all_cases = [], None
        return (yield)


_EARLY: pytest.StashKey[_EarlySelection] = pytest.StashKey()
"""On the config of a process that made no item for a deselected case."""


class _UncollectedItem(pytest.Item):
    """Stands for the cases without an item when pytest counts items."""

    def runtest(self) -> None:
        """Never called, because no session contains it."""
        raise NotImplementedError


def cases_with_item(metafunc: pytest.Metafunc, make: Callable[[], Cases]) -> Cases:
    """Return the cases of a test function that get an item: those that the marker and the options select.

    This saves time, because an item costs several times more than the record of its case. All cases get an item if
    pytest or another plugin may also select among the items.

    Args:
        metafunc: pytest's object for parametrizing the function.
        make: returns all cases of the function.
    """
    config = metafunc.config
    early = config.stash.get(_EARLY, None)
    if early is not None and early.all_cases is not None:
        return early.all_cases
    cases = make()
    entries = [entry for _, entry in cases]
    ordinals = deselected(config.stash[COLLECTED].options, entries, {entry.ordinal for entry in entries})
    selection = [(name, entry) for name, entry in cases if entry.ordinal not in ordinals]
    if not ordinals or _combinations(selection) != _combinations(cases) or not _selects_alone(metafunc):
        return cases
    if early is None:
        early = config.stash[_EARLY] = _EarlySelection()
        config.pluginmanager.register(early, "rageval-early-selection")
    without_item = [entry for entry in entries if entry.ordinal in ordinals]
    early.functions.append(_PartialFunction(metafunc.definition, cases, without_item))
    return selection


def cases_without_item(config: pytest.Config) -> list[Entry]:
    """Return the deselected cases that got no item, from the test functions that the session collects."""
    functions = config.stash[_EARLY].functions if _EARLY in config.stash else ()
    return [entry for function in functions for entry in function.deselected if entry.testbed.reached]


def report_cases_without_item(session: pytest.Session) -> list[pytest.Item]:
    """Report the cases without an item to pytest as collected; return an item for each, to report as deselected."""
    count = len(cases_without_item(session.config))
    if not count:
        return []
    item: pytest.Item = _UncollectedItem.from_parent(session, name="left out")
    report = pytest.CollectReport(item.nodeid, "passed", None, [item] * count)
    session.config.hook.pytest_collectreport(report=report)
    return [item] * count


def _combinations(cases: Cases) -> set[tuple[object, object]]:
    """Return the pairs of testbed and system of cases; checks before the run may need an item for each pair."""
    return {(entry.testbed, entry.responder) for _, entry in cases}


def _selects_alone(metafunc: pytest.Metafunc) -> bool:
    """Return whether only this plugin selects, reorders or reads the items of a function."""
    config, option = metafunc.config, metafunc.config.option
    selections = [option.keyword, option.markexpr, option.deselect, *("[" in argument for argument in config.args)]
    if any(selections) or any(getattr(option, name, False) for name in ("lf", "stepwise", "keepduplicates")):
        return False
    return not (_has_more_parameters(metafunc) or _has_foreign(config, _ITEM_HOOKS))


def _has_more_parameters(metafunc: pytest.Metafunc) -> bool:
    """Return whether a function has parameters besides its cases; pytest may reorder items by such parameters."""
    info: Any = metafunc.definition
    fixtures = (one for several in info._fixtureinfo.name2fixturedefs.values() for one in several)
    if any(fixture.params is not None for fixture in fixtures):
        return True
    has_hook = any(hasattr(scope, "pytest_generate_tests") for scope in (metafunc.module, metafunc.cls))
    return has_hook or metafunc.definition.get_closest_marker("parametrize") is not None


def _has_foreign(config: pytest.Config, names: Iterable[str]) -> bool:
    """Return whether a conftest or another plugin implements one of these hooks."""
    implementations = (each for name in names for each in getattr(config.hook, name).get_hookimpls())
    plugins = (implementation.plugin for implementation in implementations)
    modules = (str(getattr(plugin, "__name__", type(plugin).__module__)) for plugin in plugins)
    return any(module.partition(".")[0] not in _HARMLESS for module in modules)


def _make_all(definition: pytest.Function, items: list[pytest.Item]) -> None:
    """Replace the items of a function by items for all its cases, if the session collects it."""
    parent, name = definition.parent, definition.name
    indices = [
        index for index, item in enumerate(items) if item.parent is parent and getattr(item, "originalname", "") == name
    ]
    if not indices:
        return
    replacement = definition.ihook.pytest_pycollect_makeitem(collector=parent, name=name, obj=definition.obj)
    for item in replacement:
        item.ihook.pytest_itemcollected(item=item)
    items[indices[0] : indices[-1] + 1] = replacement
