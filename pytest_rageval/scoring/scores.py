"""The scores of recorded answers: means, gates, counts and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.model.facets import matches
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.scoring.chunk import Leftovers
from pytest_rageval.scoring.merge import Figures
from pytest_rageval.scoring.rows import row_of

if TYPE_CHECKING:
    from pytest_rageval.analysis.cells import Cell

__all__ = ["Scores"]


@dataclass(frozen=True, slots=True)
class Scores:
    """The result of `rag.score`.

    Attributes:
        outcomes: one for each case and system; an error or a missing answer is an outcome without scores.
        figures: the gates, means, matrices and counts over them.
        leftovers: answers without a case, and cases without an answer.
        folder: the folder that holds them; None if they were not written.
        notes: warnings.
    """

    outcomes: Sequence[Outcome] = field(repr=False)
    figures: Figures = field(repr=False)
    leftovers: Leftovers
    folder: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def gates(self) -> list[GateResult]:
        """The results of the gates; ``status`` is "passed", "failed" or "skipped"."""
        return [gate.result for gate in self.figures.gates]

    @property
    def passed(self) -> bool:
        """Whether no gate failed."""
        return all(gate.status != "failed" for gate in self.gates)

    def cell(self, metric: str, **facets: str) -> Cell:
        """Return a metric over the cases with these facets: its mean, interval, n and number of unscored cases.

        Raises:
            SettingError: the metric was not scored, no case has these facets, or the cases have several systems, which
                are never averaged.
        """
        infos = self.figures.plan.metrics
        if metric not in infos:
            raise UnknownNameError("metric", metric, infos, "rag.score")
        cases = [outcome for outcome in self.outcomes if matches(outcome.facets, facets)]
        systems = sorted({outcome.system for outcome in cases})
        if not cases:
            raise SettingError(f"rag.score: no case has {_text(facets)}; correct the facets")
        if len(systems) > 1:
            raise SettingError(f"rag.score: name one system, such as system={systems[0]!r}; systems are not averaged")
        return cell_of(metric, infos[metric].binary, cases)

    def mean(self, metric: str, **facets: str) -> float | None:
        """Return the mean of a metric over the cases with these facets; None if none of them is scored."""
        return self.cell(metric, **facets).mean

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one row for each case and system, with the columns of ``cases/``."""
        return map(row_of, self.outcomes)

    def to_pandas(self) -> Any:
        """Return the rows as a data frame.

        Raises:
            SettingError: pandas is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise SettingError("to_pandas needs pandas; install it with: pip install pandas") from error
        return pandas.DataFrame.from_records(list(self.rows()))


def _text(facets: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in facets.items())
