"""Testbeds with their cases and systems, which collection builds from test functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.analysis.gates import Gate
from pytest_rageval.engine.task import Correctness
from pytest_rageval.hooks.collect.datasets import Source
from pytest_rageval.model.facets import FACETS, KNEW, RELATION, VARIANT, is_variant
from pytest_rageval.testbeds.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_rageval.engine.recorded_answers import RecordedAnswers
    from pytest_rageval.model.case import Case, Instance
    from pytest_rageval.model.metric import Metric

__all__ = ["Entry", "Responder", "Site", "Testbed"]


@dataclass(frozen=True, slots=True)
class Site:
    """A test function with ``@rag_case``, before it is expanded into cases.

    Attributes:
        nodeid: its node id.
        name: its name.
        where: its ``file:line``, for messages.
        folders: the folders to look for its data in first.
        asserts: whether its body may fail a case on its own.
    """

    nodeid: str
    name: str
    where: str
    folders: tuple[Path, ...]
    asserts: bool


@dataclass(frozen=True, slots=True)
class Responder:
    """The system that answers a case.

    Attributes:
        name: the system's name, also its facet.
        named: whether an option names it; else the ``rag_system`` fixture provides it.
        lasting: whether its fixtures are session-scoped.
        system: the registered name or ``module:attribute`` behind an alias or ``NAME@MODEL``; "" if it is the name.
        model: the litellm name of its own model; "" for the session's.
        facets: its facets ``workflow`` and ``model``, as pairs.
        options: its options in ``rag_systems``, as pairs.
        default: whether it is built in and answers because no fixture and no option names a system.
    """

    name: str
    named: bool = False
    lasting: bool = True
    system: str = ""
    model: str = ""
    facets: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    default: bool = False

    @property
    def kind(self) -> str:
        """The registered name or ``module:attribute`` of the system."""
        return self.system or self.name


@dataclass(slots=True, eq=False)
class Testbed:
    """One ``@rag_case``, or one entry of a suite, with its cases.

    Attributes:
        nodeid: node id of its function, with the suffix.
        name: the function's name, with the suffix.
        suffix: "" for a function's first marker, "#2" for the second, and so on.
        settings: the marker's arguments.
        seed: the seed of its passages and samples.
        asserts: whether the function's body may fail a case on its own.
        metrics: the metrics of its cases, the primary one first.
        correctness: the rule by which a diagnosis calls an answer right; None if no metric scores answers.
        gates: its gates.
        facets: every facet of its cases, and those that any case may have.
        generated: number of cases before any deselection.
        reached: whether the session collects it; pytest reads the whole module even for one function.
        recorded: recorded answers to score instead of a live system's; None without.
        labelled: whether the recorded answers come with its dataset.
        notes: warnings about its relations.
    """

    __test__ = False

    nodeid: str
    name: str
    suffix: str
    settings: Settings
    seed: int
    asserts: bool
    metrics: dict[str, Metric] = field(default_factory=dict)
    correctness: Correctness | None = None
    gates: list[Gate] = field(default_factory=list)
    facets: set[str] = field(default_factory=lambda: set(FACETS))
    generated: int = 0
    reached: bool = False
    recorded: RecordedAnswers | None = None
    labelled: bool = False
    notes: tuple[str, ...] = ()

    @property
    def embeds(self) -> bool:
        """Whether a metric needs the embedding model."""
        from pytest_rageval.engine.inputs import inputs_of

        return any(each.embeds for each in inputs_of(self.metrics.values()))

    def with_variants(
        self, cases: Sequence[tuple[str, Case]], instances: Iterable[Instance]
    ) -> Sequence[tuple[str, Sequence[tuple[str, Case]]]]:
        """Return name -> a case and its variants, each with its name's suffix ("" for the original).

        Also add the facets of variants, and a note for each relation that changes no case.

        Args:
            cases: the cases by name.
            instances: the records of the dataset.

        Raises:
            SettingError: a relation is unknown or cannot be used with these cases.
        """
        if not self.settings.relations:
            return [(name, (("", case),)) for name, case in cases]
        from pytest_rageval.generation.relations.case_variants import expand_by_relations

        expanded = expand_by_relations(self.settings, cases, instances, self.seed)
        self.facets.update((RELATION, VARIANT))
        self.notes = expanded.notes
        return expanded.cases

    def has_case(self, system: str, case: Case, name: str) -> bool:
        """Return whether the testbed has a case under a system.

        If the recorded answers come with the dataset, it has only the cases with an answer. With other recorded
        answers, it has all original cases, but only the variants with an answer: the answer to an original cannot be
        used for its variants.
        """
        if self.recorded is None or not (self.labelled or is_variant(case.facets)):
            return True
        return self.recorded.find(system, case, name) is not None

    def note_left_out(self, groups: Iterable[tuple[str, Sequence[object]]], cases: Iterable[Case]) -> None:
        """Add a note if variants are left out, because recorded answers lack them.

        Args:
            groups: all cases with their variants, by name.
            cases: the cases that the testbed has.
        """
        if self.recorded is None:
            return
        missing = sum(len(versions) - 1 for _, versions in groups) - sum(is_variant(case.facets) for case in cases)
        if missing > 0:
            variants = "1 variant is" if missing == 1 else f"{missing} variants are"
            self.notes += (f"{variants} left out, because the recorded answers hold none for them",)

    def compute(self, name: str, metric: Metric) -> None:
        """Add a metric, unless the testbed already computes it."""
        self.metrics.setdefault(name, metric)
        if metric.closed_book:
            self.facets.add(KNEW)


@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """One case of one testbed, behind one test item.

    Attributes:
        ordinal: its position among all cases of the session, in data order.
        testbed: its testbed.
        source: the dataset of its instance.
        case: the case.
        name: its parameter id, without the relation, the system and the repeat.
        responder: the system that answers.
        param_id: its full parameter id.
        original: for a variant, the case that a relation changed; else None.
    """

    ordinal: int
    testbed: Testbed
    source: Source
    case: Case
    name: str
    responder: Responder
    param_id: str = ""
    original: Case | None = None

    @property
    def record(self) -> Instance:
        """The record in the dataset; the instance of a variant may have another question."""
        return (self.original or self.case).instance

    def __repr__(self) -> str:
        """Return the id: other plugins save a parameter's repr and identify tests by it."""
        return self.param_id or self.name
