"""The section on judge bias: differences between judges and people, by system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rageval.analysis.corrected_cases import EARLIER_LABELS
from pytest_rageval.analysis.corrected_mean import FEWEST
from pytest_rageval.analysis.people.bias import UNKNOWN, JudgeBias
from pytest_rageval.metrics.judges.people import PEOPLE
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.lines import Line, counted

__all__ = ["BIAS", "bias_text"]


def _tables(biases: Sequence[JudgeBias], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table with a row for each judge and system."""
    columns = [
        ["judge", *(bias.judge for bias in biases)],
        ["system", *(bias.system for bias in biases)],
        ["labels", *(str(bias.n) for bias in biases)],
        ["judge's mean", *(_number(bias.judged) for bias in biases)],
        ["people's", *(_number(bias.people) for bias in biases)],
        ["bias [95 %]", *(_difference(bias) for bias in biases)],
        ["verdict", *(bias.verdict for bias in biases)],
    ]
    notes = [
        Line(f"{bias.judge} of {bias.system}: {EARLIER_LABELS}") for bias in biases if bias.labels == EARLIER_LABELS
    ]
    yield Table("judges against people, by system - over the labelled answers", columns, notes)


def bias_text(bias: JudgeBias) -> str:
    """Return a sentence on the bias of a judge for a system, or why the bias is unknown."""
    what = f"{bias.judge} of {bias.system}"
    if bias.verdict == UNKNOWN:
        units = "" if bias.units == bias.n else f" of {counted(bias.units, 'independent unit')}"
        return f"{UNKNOWN}: {what} has {counted(bias.n, 'label')}{units}, wanted {FEWEST}"
    source = f" ({bias.labels})" if bias.labels == EARLIER_LABELS else ""
    means = f"{_number(bias.judged)} where people say {_number(bias.people)}"
    return f"{bias.verdict}: {what} is {means} on {bias.n} labels{source}; gate {PEOPLE}{bias.judge} instead"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _difference(bias: JudgeBias) -> str:
    if bias.bias is None:
        return "–"
    return f"{bias.bias:+.2f}" + ("" if bias.ci95 is None else f" [{bias.ci95[0]:+.2f}, {bias.ci95[1]:+.2f}]")


def _compute(run: Run) -> list[JudgeBias]:
    return run.biases


BIAS = Section("bias", JudgeBias, _compute, _tables)
