"""Leave cases out before pytest makes their items, if nothing but the plugin's own selection can leave out any."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED
from pytest_rageval.hooks.collect.selection import deselected

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Entry

__all__ = ["cases_to_make", "left_out_early", "report_left_out"]

Cases = Sequence[tuple[str, "Entry"]]
"""The cases of a test function, each with its parameter id."""

_HARMLESS = {"_hypothesis_pytestplugin", "_pytest", "anyio", "pytest_rageval", "xdist"}
"""Packages whose hooks select no test and read no test that is deselected; anyio's gives coroutines a fixture."""

_SEEING = (
    "pytest_collection_modifyitems", "pytest_collectreport", "pytest_deselected", "pytest_generate_tests",
    "pytest_itemcollected", "pytest_make_collect_report", "pytest_pycollect_makeitem",
)  # fmt: skip
"""Hooks that see test items before the plugin deselects cases."""

_LATE = ("pytest_collection_modifyitems", "pytest_collectreport", "pytest_deselected")
"""Those that still see the items of a case when all are collected."""


@dataclass(frozen=True, slots=True)
class _Partly:
    """A test function whose items were made only in part: its definition, all its cases, and those without an item."""

    definition: pytest.Function
    cases: Cases
    left_out: Sequence[Entry]


class _EarlySelection:
    """What is left out in this process; a plugin of pytest.

    Attributes:
        functions: those whose items were made only in part.
        whole: all cases of the function whose other items are made now; None at any other time.
    """

    def __init__(self) -> None:
        self.functions: list[_Partly] = []
        self.whole: Cases | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Make the other items after all if a conftest that was loaded after the first case sees them."""
        if _has_foreign(config, _LATE):
            for function in self.functions:
                self.whole = function.cases
                _make_all(function.definition, items)
            self.functions, self.whole = [], None
        return (yield)


_EARLY: pytest.StashKey[_EarlySelection] = pytest.StashKey()
"""On the config of a process that has left out a case early."""


class _LeftOut(pytest.Item):
    """Stands for a case without an item where pytest counts items."""

    def runtest(self) -> None:
        """Never called: it is in no session."""
        raise NotImplementedError


def cases_to_make(metafunc: pytest.Metafunc, make: Callable[[], Cases]) -> Cases:
    """Return the cases of a test function to make items for: those that the marker and the options select.

    An item costs several times more than the record of its case. If pytest or a plugin may select among the items too,
    return all cases.

    Args:
        metafunc: pytest's.
        make: returns all cases of the function.
    """
    config = metafunc.config
    early = config.stash.get(_EARLY, None)
    if early is not None and early.whole is not None:
        return early.whole
    cases = make()
    entries = [entry for _, entry in cases]
    dropped = deselected(config.stash[COLLECTED].options, entries, {entry.ordinal for entry in entries})
    selection = [(name, entry) for name, entry in cases if entry.ordinal not in dropped]
    if not dropped or _parts(selection) != _parts(cases) or not _selects_alone(metafunc):
        return cases
    if early is None:
        early = config.stash[_EARLY] = _EarlySelection()
        config.pluginmanager.register(early, "rageval-early-selection")
    left_out = [entry for entry in entries if entry.ordinal in dropped]
    early.functions.append(_Partly(metafunc.definition, cases, left_out))
    return selection


def left_out_early(config: pytest.Config) -> list[Entry]:
    """Return the cases without an item, of the test functions that the session collects."""
    functions = config.stash[_EARLY].functions if _EARLY in config.stash else ()
    return [entry for function in functions for entry in function.left_out if entry.testbed.reached]


def report_left_out(session: pytest.Session) -> list[pytest.Item]:
    """Let pytest count the cases without an item as collected; return what to report as deselected for them."""
    count = len(left_out_early(session.config))
    if not count:
        return []
    item: pytest.Item = _LeftOut.from_parent(session, name="left out")
    report = pytest.CollectReport(item.nodeid, "passed", None, [item] * count)
    session.config.hook.pytest_collectreport(report=report)
    return [item] * count


def _parts(cases: Cases) -> set[tuple[object, object]]:
    """Return the testbeds and systems of cases: a check before the run may need an item of each."""
    return {(entry.testbed, entry.responder) for _, entry in cases}


def _selects_alone(metafunc: pytest.Metafunc) -> bool:
    """Return whether nothing but the plugin selects, reorders or reads the items of a function."""
    config, option = metafunc.config, metafunc.config.option
    selections = [option.keyword, option.markexpr, option.deselect, *("[" in argument for argument in config.args)]
    if any(selections) or any(getattr(option, name, False) for name in ("lf", "stepwise", "keepduplicates")):
        return False
    return not (_has_more_parameters(metafunc) or _has_foreign(config, _SEEING))


def _has_more_parameters(metafunc: pytest.Metafunc) -> bool:
    """Return whether a function has parameters in addition to its cases: pytest may group items by them."""
    info: Any = metafunc.definition
    fixtures = (one for several in info._fixtureinfo.name2fixturedefs.values() for one in several)
    if any(fixture.params is not None for fixture in fixtures):
        return True
    own = any(hasattr(place, "pytest_generate_tests") for place in (metafunc.module, metafunc.cls))
    return own or metafunc.definition.get_closest_marker("parametrize") is not None


def _has_foreign(config: pytest.Config, names: Iterable[str]) -> bool:
    """Return whether a conftest or another plugin implements one of these hooks."""
    implementations = (each for name in names for each in getattr(config.hook, name).get_hookimpls())
    plugins = (implementation.plugin for implementation in implementations)
    modules = (str(getattr(plugin, "__name__", type(plugin).__module__)) for plugin in plugins)
    return any(module.partition(".")[0] not in _HARMLESS for module in modules)


def _make_all(definition: pytest.Function, items: list[pytest.Item]) -> None:
    """Replace the items of a function by items for all its cases, if the session collects it."""
    parent, name = definition.parent, definition.name
    places = [
        at for at, item in enumerate(items) if item.parent is parent and getattr(item, "originalname", "") == name
    ]
    if not places:
        return
    replacement = definition.ihook.pytest_pycollect_makeitem(collector=parent, name=name, obj=definition.obj)
    for item in replacement:
        item.ihook.pytest_itemcollected(item=item)
    items[places[0] : places[-1] + 1] = replacement
