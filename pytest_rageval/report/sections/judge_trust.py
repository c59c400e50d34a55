"""Agreement of judges with people in the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.people.trust import Trust
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.text.lines import Line, counted
from pytest_rageval.report.text.tables import table

__all__ = ["JUDGES", "trust_columns", "trust_lines", "trust_texts"]

JUDGES = "judges against people"
"""The heading of the section."""


def trust_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table with a row for each judge with a required agreement, and why scores were withheld."""
    if not run.trusts:
        return
    yield Line("")
    yield Line(JUDGES)
    yield from table(["judge", *(trust.judge for trust in run.trusts)], trust_columns(run.trusts), width)
    for trust in run.trusts:
        unused, problem = trust_texts(trust)
        yield from (Line(ascii_safe(text)) for text in unused)
        yield from (Line(ascii_safe(text), "red") for text in problem)


def trust_columns(trusts: Sequence[Trust]) -> list[list[str]]:
    """Return the columns of the table with their heads, without the column of judges."""
    return [
        ["labelled", *(_counted(trust) for trust in trusts)],
        ["accuracy", *(_number(trust.accuracy) for trust in trusts)],
        ["kappa", *(_number(trust.kappa) for trust in trusts)],
        ["95 %", *(_interval(trust) for trust in trusts)],
        ["wanted", *(f"{trust.least:g}" for trust in trusts)],
    ]


def trust_texts(trust: Trust) -> tuple[list[str], list[str]]:
    """Return which labels of a judge were not used, and why its scores do not count."""
    unused = [f"{trust.judge}: {counted(n, 'label')} not used, {why}" for why, n in trust.unused.items()]
    problem = [] if trust.problem is None else [trust.problem]
    return unused, [f"{trust.judge} is not trusted, its scores do not count: {why}" for why in problem]


def _counted(trust: Trust) -> str:
    return f"{trust.n}+{trust.n_unscored} unscored" if trust.n_unscored else str(trust.n)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _interval(trust: Trust) -> str:
    return "–" if trust.ci95 is None else f"[{trust.ci95[0]:.2f}, {trust.ci95[1]:.2f}]"
