"""The section on judge trust: agreement of judges with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rageval.analysis.people.trust import Trust
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.lines import Line, counted

__all__ = ["TRUST", "distrust_text"]


def _tables(trusts: Sequence[Trust], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table with a row for each judge that must agree with people, and why scores are withheld."""
    columns = [
        ["judge", *(trust.judge for trust in trusts)],
        ["labelled", *(_counted(trust) for trust in trusts)],
        ["accuracy", *(_number(trust.accuracy) for trust in trusts)],
        ["kappa", *(_number(trust.kappa) for trust in trusts)],
        ["95 %", *(_interval(trust) for trust in trusts)],
        ["wanted", *(f"{trust.least:g}" for trust in trusts)],
    ]
    yield Table("judges against people", columns, [note for trust in trusts for note in _notes(trust)])


def _notes(trust: Trust) -> Iterator[Line]:
    """Yield the threshold of a judge's scores, its unused labels, and why its scores do not count."""
    if trust.threshold is not None:
        yield Line(f"{trust.judge}: a score of at least {trust.threshold:g} counts as 1, any other as 0")
    yield from (Line(f"{trust.judge}: {counted(n, 'label')} not used, {why}") for why, n in trust.unused.items())
    if trust.problem is not None:
        yield Line(distrust_text(trust), "red")


def distrust_text(trust: Trust) -> str:
    """Return a sentence on why a judge's scores do not count."""
    return f"{trust.judge} is not trusted, its scores do not count: {trust.problem}"


def _counted(trust: Trust) -> str:
    return f"{trust.n}+{trust.n_unscored} unscored" if trust.n_unscored else str(trust.n)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _interval(trust: Trust) -> str:
    return "–" if trust.ci95 is None else f"[{trust.ci95[0]:.2f}, {trust.ci95[1]:.2f}]"


def _compute(run: Run) -> list[Trust]:
    return run.trusts


TRUST = Section("trust", Trust, _compute, _tables, in_markdown=False, top_level=True)
