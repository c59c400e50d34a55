"""What collection gathers: testbeds and their cases, made from markers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate, check_gate, parse_gate
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError, UnknownNameError, found
from pytest_rageval.hooks.given import Options
from pytest_rageval.hooks.markers import marks_of
from pytest_rageval.hooks.named import NamedSystems
from pytest_rageval.hooks.sources import Source, Sources
from pytest_rageval.model.facets import FACETS, matches
from pytest_rageval.testbeds.ability import ability_named
from pytest_rageval.testbeds.expand import Shortfalls, expand, shortfalls
from pytest_rageval.testbeds.ids import safe
from pytest_rageval.testbeds.selection import select
from pytest_rageval.testbeds.settings import Settings, parse_settings

if TYPE_CHECKING:
    from pytest_rageval.engine.recorded import RecordedAnswers
    from pytest_rageval.hooks.answering import Answering
    from pytest_rageval.model.case import Case
    from pytest_rageval.model.metric import Metric

__all__ = ["Collected", "Entry", "Responder", "Site", "Testbed", "parametrize"]


@dataclass(frozen=True, slots=True)
class Site:
    """A test function with ``@rag_case``, not yet multiplied.

    Attributes:
        nodeid: its node id.
        name: its name.
        where: its ``file:line``, for messages.
        folders: where the data that it names is looked for first.
        asserts: whether its body may fail a case on its own.
    """

    nodeid: str
    name: str
    where: str
    folders: tuple[Path, ...]
    asserts: bool


@dataclass(frozen=True, slots=True)
class Responder:
    """Who answers a case.

    Attributes:
        name: the system's name, also its facet.
        named: whether an option names it; else the ``rag_system`` fixture gives it.
        lasting: whether what the fixture gives lasts for the session.
    """

    name: str
    named: bool = False
    lasting: bool = True


@dataclass(slots=True, eq=False)
class Testbed:
    """One ``@rag_case``, or one entry of a suite, with its cases.

    Attributes:
        nodeid: node id of its function, and its suffix.
        name: the function's name, and its suffix.
        suffix: "", then "#2" and so on for the further markers of one function.
        settings: the marker's arguments.
        seed: the seed in force.
        asserts: whether the function's body may fail a case on its own.
        metrics: what its cases are scored by, the primary one first.
        gates: its gates.
        facets: every facet its cases carry, and those every case may carry.
        generated: how many cases there are before any deselection.
        notes: what the summary warns of.
    """

    __test__ = False

    nodeid: str
    name: str
    suffix: str
    settings: Settings
    seed: int
    asserts: bool
    metrics: dict[str, Metric] = field(default_factory=dict)
    gates: list[Gate] = field(default_factory=list)
    facets: set[str] = field(default_factory=lambda: set(FACETS))
    generated: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Entry:
    """One case of one testbed, as it stands behind a test item.

    Attributes:
        ordinal: its place among all cases of the session, in data order.
        testbed: what it belongs to.
        source: the dataset of its instance.
        case: the case.
        name: its parameter id, without the system.
        responder: who answers.
    """

    ordinal: int
    testbed: Testbed
    source: Source
    case: Case
    name: str
    responder: Responder


class Collected:
    """The session's testbeds and cases."""

    def __init__(self, catalog: Catalog, options: Options, rootdir: Path) -> None:
        self.catalog = catalog
        self.options = options
        self.sources = Sources(catalog.datasets, rootdir)
        self.named = NamedSystems(options.folders)
        self.testbeds: dict[str, Testbed] = {}
        self.entries: list[Entry] = []
        self.session_gates: list[tuple[Gate, str]] = []
        for where, texts in (("--rag-gate", options.cli_gates), ("rag_gates", options.ini_gates)):
            for gate in (parse_gate(text, where) for text in texts):
                if all(gate != known for known, _ in self.session_gates):
                    self.session_gates.append((gate, where))
        self._recorded: RecordedAnswers | None = None
        self._answering: Answering | None = None

    def add(
        self,
        site: Site,
        number: int,
        raw: dict[str, object],
        responders: Sequence[Responder],
    ) -> list[tuple[str, Entry]]:
        """Make one marker a testbed and return its (parameter id, entry) pairs.

        Args:
            site: the test function.
            number: which of the function's markers this is, from 1.
            raw: the marker's arguments by name.
            responders: who answers; each case is asked of each.
        """
        settings = parse_settings(raw, site.where)
        seed = next((s for s in (self.options.seed, settings.seed) if s is not None), 0)
        source = self.sources.load(settings.dataset, site.folders, site.where)
        expanded = expand(settings, source.instances, seed)
        suffix = "" if number == 1 else f"#{number}"
        testbed = Testbed(site.nodeid + suffix, site.name + suffix, suffix, settings, seed, site.asserts)
        answering = self._recorded_systems() or responders
        made = []
        for name, case in expanded:
            for responder in answering:
                given = case.with_facets(system=responder.name)
                entry = Entry(len(self.entries), testbed, source, given, name, responder)
                self.entries.append(entry)
                made.append((f"{name}-system={safe(responder.name)}" if len(answering) > 1 else name, entry))
        testbed.generated = len(made)
        self.testbeds[testbed.nodeid] = testbed
        self._complete(testbed, [entry.case for _, entry in made])
        return made

    def check_session(self) -> None:
        """Check what can only be checked when all is collected; raises `SettingError`.

        The systems that are named are loaded. A metric that a session gate or ``--rag-matrix`` names and no testbed
        computes is computed by all.
        """
        self.named.load((e.responder.name for e in self.entries if e.responder.named), self.catalog.systems)
        facets = set().union(*(testbed.facets for testbed in self.testbeds.values()))
        for gate, where in self.session_gates:
            check_gate(gate, list(self.catalog.metrics), facets, where)
            _refuse_baseline(gate, where)
            self._compute(gate.metric, where)
            if where == "--rag-gate" and not any(matches(entry.case.facets, gate.slice) for entry in self.entries):
                raise SettingError(f"{where}: gate {found(str(gate))} matches no case of this session")
        if self.options.matrix is not None:
            self._compute(self.options.matrix, "--rag-matrix")
        for option, name in (("--rag-rows", self.options.rows), ("--rag-cols", self.options.cols)):
            if name is not None and name not in facets:
                raise UnknownNameError("facet", name, facets, option)

    @property
    def recorded(self) -> RecordedAnswers | None:
        """The recorded answers, read when first asked for; None without ``--rag-answers``."""
        if self._recorded is None and self.options.answers is not None:
            from pytest_rageval.datasets.recorded import load_recorded
            from pytest_rageval.datasets.source import shown_path
            from pytest_rageval.engine.recorded import RecordedAnswers

            if not self.options.answers.exists():
                raise SettingError(
                    f"--rag-answers: there is no file {shown_path(self.options.answers)}; correct the path"
                )
            self._recorded = RecordedAnswers(load_recorded(self.options.answers))
        return self._recorded

    @property
    def answering(self) -> Answering:
        """What asks the systems; made for the first case that runs."""
        if self._answering is None:
            from pytest_rageval.hooks.answering import Answering

            self._answering = Answering(self)
        return self._answering

    def close(self) -> None:
        """End what answering has started, and take off what loading has added to Python's path."""
        self.named.close()
        if self._answering is not None:
            self._answering.close()

    def _recorded_systems(self) -> list[Responder]:
        return [] if self.recorded is None else [Responder(name) for name in self.recorded.systems]

    def _complete(self, testbed: Testbed, cases: Sequence[Case]) -> None:
        """Add metrics and gates; a gate computes the metric it names."""
        settings, where = testbed.settings, testbed.settings.origin
        testbed.facets.update(*(case.facets for case in cases))
        if not select(cases, settings.where, None, None, 0, where):
            raise SettingError(f"{where}: where matches no case; {_told(settings.where, cases)}")
        short = shortfalls(cases)
        if short.count:
            testbed.notes.append(_short_pools(short))
        gates = [parse_gate(text, where) for text in settings.gates]
        named = [gate.metric for gate in gates if gate.metric not in PSEUDO_METRICS]
        for name in [*(settings.metrics or ability_named(settings.ability).metrics), *named]:
            testbed.metrics.setdefault(name, self.catalog.metrics.get(name, where))
        for gate in gates:
            check_gate(gate, testbed.metrics, testbed.facets, where)
            _refuse_baseline(gate, where)
            if not any(matches(case.facets, gate.slice) for case in cases):
                raise SettingError(f"{where}: gate {found(str(gate))} matches no case; {_told(gate.slice, cases)}")
            if gate in testbed.gates:
                raise SettingError(f"{where}: gate {found(str(gate))} stands there twice; remove one")
            testbed.gates.append(gate)

    def _compute(self, name: str, where: str) -> None:
        if name in PSEUDO_METRICS:
            return
        metric = self.catalog.metrics.get(name, where)
        if not any(name in testbed.metrics for testbed in self.testbeds.values()):
            for testbed in self.testbeds.values():
                testbed.metrics[name] = metric


def parametrize(metafunc: pytest.Metafunc, made: Iterable[tuple[str, Entry]]) -> None:
    """Turn a test function's entries into parameters of its ``rag`` fixture, with unique ids."""
    params = [
        pytest.param(entry, marks=marks_of(entry.case.facets, metafunc.config), id=name + entry.testbed.suffix)
        for name, entry in made
    ]
    metafunc.parametrize("rag", params, indirect=True)


def _refuse_baseline(gate: Gate, where: str) -> None:
    if gate.baseline:
        raise SettingError(f"{where}: gate {found(str(gate))} needs a baseline, and there is none; use a number")


def _told(wanted: Mapping[str, str], cases: Sequence[Case]) -> str:
    """Return which values the wanted facets have."""
    parts = []
    for name in wanted:
        known = sorted({case.facets[name] for case in cases if name in case.facets})
        parts.append(f"{name} is {', '.join(map(found, known[:8]))}" if known else f"no case has {name}")
    return "; ".join(parts)


def _short_pools(short: Shortfalls) -> str:
    ids = ", ".join(short.ids) + (", ..." if short.count > len(short.ids) else "")
    return f"{short.count} of {short.total} cases got other passages than asked, as their pools are short ({ids})"
