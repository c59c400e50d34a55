"""The section on local judges: what they decided, and what they escalated to a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rageval.analysis.people.local_use import MAX_UNLIKE, LabelMatches, LocalUse
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.lines import dollars

__all__ = ["LOCAL_JUDGES", "unlike_training"]


def _tables(uses: Sequence[LocalUse], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table with a row for each metric that has a local judge; empty columns are left out."""
    columns = [
        ["decided", *(str(each.decided) for each in uses)],
        ["escalated", *("–" if each.escalate is None else str(each.escalated) for each in uses)],
        ["below", *("–" if each.escalate is None else f"{each.escalate:g}" for each in uses)],
        ["no label", *(str(each.no_label or "–") for each in uses)],
        ["local as people", *(_agreed(each.local) for each in uses)],
        ["model as people", *(_agreed(each.model) for each in uses)],
        ["cost", *(_cost(each) for each in uses)],
        ["unlike training", *(f"{each.unlike:.0%}" for each in uses)],
    ]
    filled = [column for column in columns if set(column[1:]) != {"–"}]
    yield Table("local judges", [["metric", *(each.metric for each in uses)], *filled])


def unlike_training(uses: Sequence[LocalUse]) -> list[str]:
    """Return a warning for each local judge that read many answers unlike its training data."""
    notes = []
    for each in uses:
        if each.unlike > MAX_UNLIKE:
            systems = ", ".join(f"{system} {share:.0%}" for system, share in each.unlike_by_system.items())
            notes.append(
                f"{each.metric}: {each.unlike:.0%} of the answers that its local judge read are unlike its training "
                f"data ({systems}); label some of them, and train it again"
            )
    return notes


def _agreed(agreed: LabelMatches) -> str:
    return f"{agreed.same / agreed.n:.2f} of {agreed.n}" if agreed.n else "–"


def _cost(use: LocalUse) -> str:
    if use.escalate is None:
        return "–"
    return "unknown" if use.cost_usd is None else dollars(use.cost_usd)


def _compute(run: Run) -> list[LocalUse]:
    return run.local_uses


LOCAL_JUDGES = Section("local_judges", LocalUse, _compute, _tables, in_markdown=False)
