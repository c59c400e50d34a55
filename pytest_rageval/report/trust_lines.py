"""How far judges agree with people, as a section of the summary."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.analysis.trust import Trust
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.lines import Line, counted
from pytest_rageval.report.run import Run
from pytest_rageval.report.tables import table

__all__ = ["trust_lines"]


def trust_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table with a row for each judge that has to agree with people, and why scores were withheld."""
    if not run.trusts:
        return
    columns = [
        ["labelled", *(_counted(trust) for trust in run.trusts)],
        ["accuracy", *(_number(trust.accuracy) for trust in run.trusts)],
        ["kappa", *(_number(trust.kappa) for trust in run.trusts)],
        ["95 %", *(_interval(trust) for trust in run.trusts)],
        ["wanted", *(f"{trust.least:g}" for trust in run.trusts)],
    ]
    yield Line("")
    yield Line("judges against people")
    yield from table(["judge", *(trust.judge for trust in run.trusts)], columns, width)
    for trust in run.trusts:
        for why, count in trust.unused.items():
            yield Line(ascii_safe(f"{trust.judge}: {counted(count, 'label')} not used, {why}"))
        if trust.problem is not None:
            yield Line(ascii_safe(f"{trust.judge} is not trusted, its scores do not count: {trust.problem}"), "red")


def _counted(trust: Trust) -> str:
    return f"{trust.n}+{trust.n_unscored} unscored" if trust.n_unscored else str(trust.n)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _interval(trust: Trust) -> str:
    return "–" if trust.ci95 is None else f"[{trust.ci95[0]:.2f}, {trust.ci95[1]:.2f}]"
