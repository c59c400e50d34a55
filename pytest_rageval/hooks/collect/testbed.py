"""What collection makes of a test function: testbeds, their cases, and who answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.analysis.gates import Gate
from pytest_rageval.hooks.collect.datasets import Source
from pytest_rageval.model.facets import FACETS, KNEW
from pytest_rageval.testbeds.settings import Settings

if TYPE_CHECKING:
    from pytest_rageval.engine.recorded_answers import RecordedAnswers
    from pytest_rageval.model.case import Case
    from pytest_rageval.model.metric import Metric

__all__ = ["Entry", "Responder", "Site", "Testbed"]


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
        reached: whether the session collects it; a module is read whole for one of its functions.
        recorded: the answers that are scored instead of a system's, or None.
        labelled: whether they are those that its dataset brings along.
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
    reached: bool = False
    recorded: RecordedAnswers | None = None
    labelled: bool = False

    @property
    def embeds(self) -> bool:
        """Whether a metric compares embeddings; only then is the embedding model needed."""
        return any(metric.texts is not None for metric in self.metrics.values())

    def compute(self, name: str, metric: Metric) -> None:
        """Add a metric that the testbed does not compute yet."""
        self.metrics.setdefault(name, metric)
        if metric.closed_book:
            self.facets.add(KNEW)


@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """One case of one testbed, as it stands behind a test item.

    Attributes:
        ordinal: its place among all cases of the session, in data order.
        testbed: what it belongs to.
        source: the dataset of its instance.
        case: the case.
        name: its parameter id, without the system and the repeat.
        responder: who answers.
        param_id: its parameter id, which differs for each system and repeat.
    """

    ordinal: int
    testbed: Testbed
    source: Source
    case: Case
    name: str
    responder: Responder
    param_id: str = ""

    def __repr__(self) -> str:
        """Return its id: other plugins write the repr of a parameter into their files, and tell tests by it."""
        return self.param_id or self.name
