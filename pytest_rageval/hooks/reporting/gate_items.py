"""Gates as pytest items: listed after the cases, run once after all cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import pytest
from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter

from pytest_rageval.datasets.source import place_below
from pytest_rageval.hooks.collect.gate_ids import OPENING, session_file
from pytest_rageval.hooks.collect.keys import ENTRY
from pytest_rageval.report.run.gate_results import session_node, testbed_node

if TYPE_CHECKING:
    from pytest_rageval.analysis.decisions.verdicts import GateResult
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.report.run.plan import Plan

__all__ = ["GateFailure", "GateFile", "GateItem", "GatePlace", "GateRuns", "append_collected", "planned_items"]


@dataclass(frozen=True, slots=True)
class GatePlace:
    """A gate's node id and source location.

    Attributes:
        nodeid: the node id.
        path: the file that its item belongs to.
        source: the file that declares it, which differs for an inherited test.
        line: the line there, from 0.
    """

    nodeid: str
    path: Path
    source: Path
    line: int


class GateFailure(TerminalRepr):
    """A failed gate as pytest shows it: its first line in the short summary and with ``--tb=line``, else all.

    Args:
        text: the failure.
        path: the file that declares the gate.
        line: the line there, from 1.
        style: the value of ``--tb``.
    """

    def __init__(self, text: str, path: str, line: int, style: str) -> None:
        self.reprcrash = ReprFileLocation(path, line, text.partition("\n")[0])
        self._text = "" if style == "line" else text

    def toterminal(self, tw: TerminalWriter) -> None:
        """Write the failure; nothing for ``--tb=line``, which writes the first line itself."""
        if self._text:
            tw.line(self._text)


class GateFile(pytest.File):
    """The parent of gate items in a run; it has no markers or fixtures of the tests in the same file."""

    def collect(self) -> Iterable[pytest.Item]:
        """Return nothing: gates are not collected from files."""
        return []


class GateItem(pytest.Item):
    """One gate as a test.

    Args:
        place: its node id and source location.
        kwargs: pytest's.

    Attributes:
        result: the gate's result, set after all cases.
    """

    # Hooks of conftests and other plugins often read these from each test.
    cls = module = None
    fixturenames: Sequence[str] = ()

    @staticmethod
    def function() -> None:
        """Decide whether a gate holds."""

    def __init__(self, *, place: GatePlace, **kwargs: Any) -> None:
        super().__init__(name=_name(place.nodeid), nodeid=place.nodeid, **kwargs)
        self.result: GateResult | None = None
        self.funcargs: dict[str, object] = {}
        self._place = place
        if not self.config.option.collectonly:
            # Some reports identify tests by name and parameters; without these, they show gates as retries of a test.
            gate = self.name.partition(OPENING)[2].removesuffix("]")
            self.callspec = SimpleNamespace(params={"gate": gate}, id=f"gate: {gate}", indices={})

    def runtest(self) -> None:
        """Fail or skip as the gate's result says."""
        result = self.result
        if result is None:
            return
        if result.status == "skipped":
            raise pytest.skip.Exception(f"gate {result.gate}: {result.reason}", _use_item_location=True)
        if result.status == "failed":
            from pytest_rageval.report.sections.gates import gate_failure

            pytest.fail(gate_failure(result), pytrace=False)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return a failed gate without a traceback."""
        if isinstance(excinfo.value, pytest.fail.Exception):
            path, line, _ = self.location
            return GateFailure(str(excinfo.value), path, (line or 0) + 1, self.config.option.tbstyle)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the gate's source location, and its id without the file."""
        return self._place.source, self._place.line, self.nodeid.partition("::")[2]


class GateRuns:
    """Plugin that runs each gate item once: no reruns, no debugger."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a gate item; leave all other items to pytest."""
        if not isinstance(item, GateItem):
            return None
        hook = item.config.hook  # not item.ihook: xdist's controller has not collected all folders
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        phases: dict[Literal["setup", "call", "teardown"], Any] = {
            "setup": partial(hook.pytest_runtest_setup, item=item),
            "call": partial(hook.pytest_runtest_call, item=item),
            "teardown": partial(hook.pytest_runtest_teardown, item=item, nextitem=nextitem),
        }
        is_set_up = True
        for when, phase in phases.items():
            if when == "call" and not is_set_up and not _has_failed(item):
                continue
            call = pytest.CallInfo.from_call(phase, when=when, reraise=(pytest.exit.Exception, KeyboardInterrupt))
            report = hook.pytest_runtest_makereport(item=item, call=call)
            hook.pytest_runtest_logreport(report=report)
            is_set_up = is_set_up and report.passed
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def append_collected(session: pytest.Session, collected: Collected) -> None:
    """Append the gates of each testbed with a selected case, then those of the session.

    With ``--collect-only`` gates are listed under the collector of their tests, and cases of suites lose their
    parameters: editors build their tree from parents, and expect parameters in Python files only.
    """
    config = session.config
    parents: dict[str, Any] = {}
    for item in (*collected.resumed_items, *session.items):
        if ENTRY in item.stash:
            parents.setdefault(item.stash[ENTRY].testbed.nodeid, item.parent)
            if config.option.collectonly and item.path.suffix != ".py":
                vars(item).pop("callspec", None)
    root = collected.rootdir
    testbeds = [
        (testbed.nodeid, place_below(root, root, testbed.settings.origin), [str(gate) for gate in testbed.gates])
        for testbed in collected.testbeds.values()
        if testbed.nodeid in parents
    ]
    places = list(_places(config, testbeds, [str(gate) for gate, _ in collected.session_gates]))
    items = _gate_items(session, places, parents if config.option.collectonly else {})
    for parent, group in groupby(items, key=lambda item: item.parent):
        nodeid = "" if parent is None else parent.nodeid
        report = pytest.CollectReport(nodeid, "passed", None, list(group))
        config.hook.pytest_collectreport(report=report)  # this counts the gates
    session.items.extend(items)


def planned_items(session: pytest.Session, plan: Plan) -> list[GateItem]:
    """Return the gate items of a plan, for xdist's controller, which has no collected testbeds."""
    selected = {testbed for _, testbed, _, _ in plan.cases.values()}
    testbeds = [(each.nodeid, each.where, each.gates) for each in plan.testbeds.values() if each.nodeid in selected]
    return _gate_items(session, list(_places(session.config, testbeds, plan.session_gates)), {})


def _gate_items(session: pytest.Session, places: Sequence[GatePlace], parents: Mapping[str, Any]) -> list[GateItem]:
    """Create the gate items.

    Args:
        session: pytest's.
        places: node ids and locations of the gates.
        parents: node id of a testbed -> the collector to list its gates under; others get a file of gates.
    """
    plugins = session.config.pluginmanager
    if places and not plugins.hasplugin("rageval-gates"):
        plugins.register(GateRuns(), "rageval-gates")
    files = {path: GateFile.from_parent(session, path=path) for path in {place.path for place in places}}
    return [
        GateItem.from_parent(parents.get(place.nodeid.partition(OPENING)[0], files[place.path]), place=place)
        for place in places
    ]


def _places(
    config: pytest.Config, testbeds: Sequence[tuple[str, str, Iterable[str]]], session_gates: Iterable[str]
) -> Iterator[GatePlace]:
    """Yield the gates of the testbeds (node id, ``file:line``, gates), then those of the session."""
    for nodeid, where, gates in testbeds:
        path = config.rootpath / nodeid.partition("::")[0]
        file, _, line = where.rpartition(":")
        source, at = (config.rootpath / file, int(line) - 1) if file else (path, 0)
        for gate in gates:
            yield GatePlace(testbed_node(nodeid, gate), path, source, at)
    if testbeds:
        path = session_file(config)
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path == config.inipath else []
        for gate in session_gates:
            at = next((at for at, line in enumerate(lines) if gate in line), 0)
            yield GatePlace(session_node(gate), path, path, at)


def _name(nodeid: str) -> str:
    """Return the last part of a node id; the text of a gate may contain colons."""
    names, bracket, gate = nodeid.partition("[")
    return names.rpartition("::")[2] + bracket + gate


def _has_failed(item: GateItem) -> bool:
    return item.result is not None and item.result.status == "failed"
