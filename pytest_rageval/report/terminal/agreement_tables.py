"""Format the agreement of judges with people, as lines for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from pytest_rageval.analysis.people.agreement import MANY_LEVELS, MAX_LEVELS, Agreement, Estimate
from pytest_rageval.analysis.people.correlations import Correlations
from pytest_rageval.analysis.people.labelled_answers import MatchedLabels
from pytest_rageval.analysis.statistics import Mean
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.facets import facet_text
from pytest_rageval.report.run.judge_agreement import CorrectedSystemMean, LabelAgreement, MetricAgreement
from pytest_rageval.report.text.lines import counted, few_of, interval, number
from pytest_rageval.report.text.tables import blocks_of, table_lines

__all__ = ["confusion_lines", "count_lines", "estimate_text", "label_agreement_json", "label_agreement_lines"]

MAX_NAMES = 5

_WHY = {"one_value": "one value", "no_rating": "–", "too_few": "too few", MANY_LEVELS: "–"}

_COLUMNS = ("accuracy", "kappa", "kappa_quadratic", "alpha", "higher", "lower")
_HEADS = ("accuracy", "kappa", "quadratic kappa", "alpha", "judge higher", "judge lower")
_CORRELATIONS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall tau-b"}

Rows = Sequence[tuple[str, Agreement, Correlations]]


def label_agreement_lines(result: LabelAgreement, width: int) -> Iterator[str]:
    """Yield the agreement of a run's metrics with people's labels, for a terminal of ``width`` columns."""
    yield from count_lines(result.matched)
    yield from _notes(result)
    yield ""
    yield "judge against people - value [95 % interval]"
    rows = [row for judge in result.judges for row in _rows(judge, result.by)]
    yield from _blocks(rows, f"metric {result.by}".strip(), width)
    for judge in result.judges:
        yield from _confusion(judge)
    if result.means:
        yield from _corrected(result.means, width)


def _blocks(rows: Rows, head: str, width: int) -> Iterator[str]:
    columns = [["n", *(str(each.n) for _, each, _ in rows)], ["cases", *(str(each.n_cases) for _, each, _ in rows)]]
    if any(each.n_units < each.n_cases for _, each, _ in rows):
        columns.append(["units", *(str(each.n_units) for _, each, _ in rows)])
    two_levels = all(len(each.levels) == 2 for _, each, _ in rows)
    for key, name in zip(_COLUMNS, _HEADS, strict=True):
        if not (two_levels and key == "kappa_quadratic"):  # equals kappa for two levels
            columns.append([name, *(estimate_text(getattr(each, key)) for _, each, _ in rows)])
    correlations = [
        [name, *(estimate_text(getattr(each, key)) for _, _, each in rows)] for key, name in _CORRELATIONS.items()
    ]
    labels = [head, *(label for label, _, _ in rows)]
    for block in (*blocks_of(labels, columns, width), *blocks_of(labels, correlations, width)):
        yield ""
        yield from block


def label_agreement_json(result: LabelAgreement) -> dict[str, Any]:
    """Return the agreement of a run's metrics with people's labels as builtins."""
    matched = result.matched
    return {
        "labels": {
            "answers": len(matched.answers),
            "used": sum(len(answer.labels) for answer in matched.answers),
            "blank": [label.where for label in matched.blank],
            "unmatched": {why: [label.where for label in labels] for why, labels in matched.unmatched.items()},
        },
        "people": None if result.people is None else {"alpha": result.people[0], "n": result.people[1]},
        "judges": [
            {
                "metric": judge.metric,
                "threshold": judge.compared.threshold,
                "snapped": judge.compared.snapped,
                "unscored": dict(judge.unscored),
                "agreement": asdict(judge.agreement),
                "correlations": asdict(judge.correlations),
                "by": {result.by: {value: _slice(*each) for value, each in judge.slices.items()}} if result.by else {},
            }
            for judge in result.judges
        ],
        "means": [{"metric": each.metric, "system": each.system, **asdict(each.mean)} for each in result.means],
    }


def _slice(agreement: Agreement, correlations: Correlations) -> dict[str, Any]:
    return {**asdict(agreement), "correlations": asdict(correlations)}


def count_lines(matched: MatchedLabels) -> Iterator[str]:
    """Yield the number of used labels, and which labels are not used and why."""
    used = sum(len(answer.labels) for answer in matched.answers)
    cases = len({answer.outcomes[0].case_id for answer in matched.answers})
    yield f"{counted(used, 'label')} of {counted(len(matched.answers), 'answer')} to {counted(cases, 'case')}"
    if matched.blank:
        wheres = tuple(label.where for label in matched.blank)
        rows = counted(len(wheres), "row")
        yield f"{rows} without a label, or with a label without a value: {few_of(wheres, MAX_NAMES)}"
    for why, labels in matched.unmatched.items():
        names = tuple(ascii_safe(label.id) for label in labels)
        yield f"{counted(len(names), 'label')} not used, {why}: {few_of(names, MAX_NAMES)}"


def _notes(result: LabelAgreement) -> Iterator[str]:
    for judge in result.judges:
        if judge.unscored:
            reasons = ", ".join(f"{n} {reason}" for reason, n in judge.unscored.items())
            yield f"{judge.metric}: {counted(sum(judge.unscored.values()), 'labelled answer')} unscored ({reasons})"
    compared = {judge.metric: judge.compared for judge in result.judges}
    thresholds = {metric: each.threshold for metric, each in compared.items() if each.threshold is not None}
    for threshold in sorted(set(thresholds.values())):
        metrics = ", ".join(metric for metric, value in thresholds.items() if value == threshold)
        yield f"a score of at least {threshold:g} counts as 1, any other as 0: {metrics}"
    if thresholds:
        yield "--threshold sets another bound; correlations take every score as it is"
    snapped = [judge.metric for judge in result.judges if judge.compared.snapped]
    if snapped:
        yield f"a score counts as the nearest of people's values: {', '.join(snapped)}"
    graded = [judge.metric for judge in result.judges if judge.agreement.kappa.reason == MANY_LEVELS]
    if graded:
        why = f"more than {MAX_LEVELS} values: no kappa and no alpha; --threshold compares yes and no"
        yield f"people's labels have {why}: {', '.join(graded)}"
    if result.people is not None:
        yield f"people among themselves: alpha {number(result.people[0])} over {counted(result.people[1], 'answer')}"


def _rows(judge: MetricAgreement, by: str) -> Iterator[tuple[str, Agreement, Correlations]]:
    yield f"{judge.metric} all" if by else judge.metric, judge.agreement, judge.correlations
    for value, each in judge.slices.items():
        yield f"{judge.metric} {value}", *each


def estimate_text(estimate: Estimate) -> str:
    """Return an estimate with its interval, or why it is undefined."""
    if estimate.value is None:
        return _WHY.get(estimate.reason or "", "–")
    return f"{estimate.value:.2f}" + ("" if estimate.ci95 is None else f" {interval(estimate.ci95)}")


def _mean(mean: Mean) -> str:
    return "–" if mean.value is None else f"{mean.value:.3f} {interval(mean.ci95)}"


def _confusion(judge: MetricAgreement) -> Iterator[str]:
    agreement = judge.agreement
    if not agreement.n or not agreement.levels:
        return
    yield from confusion_lines(agreement, judge.metric, [facet_text(round(level, 3)) for level in agreement.levels])


def confusion_lines(agreement: Agreement, metric: str, levels: Sequence[str]) -> Iterator[str]:
    """Yield an empty line and the confusion matrix.

    Args:
        agreement: the agreement of a metric with people.
        metric: name of the metric.
        levels: the texts of the levels, in order.
    """
    yield ""
    head = [f"people \\ {metric}", *levels]
    yield from table_lines(
        [head, *([level, *map(str, row)] for level, row in zip(levels, agreement.confusion, strict=True))]
    )


def _corrected(means: Sequence[CorrectedSystemMean], width: int) -> Iterator[str]:
    yield ""
    yield "mean over all judged cases, and corrected to what people would say (prediction-powered inference)"
    columns = [
        ["system", *(each.system for each in means)],
        ["judged", *(str(each.mean.n_judged) for each in means)],
        ["labelled", *(str(each.mean.n_labelled) for each in means)],
        ["judge's mean", *(_mean(each.mean.raw) for each in means)],
        ["labels alone", *(_mean(each.mean.labelled) for each in means)],
        ["corrected", *(_corrected_text(each) for each in means)],
        ["weight", *(number(each.mean.weight) for each in means)],
    ]
    for block in blocks_of(["metric", *(each.metric for each in means)], columns, width):
        yield ""
        yield from block


def _corrected_text(each: CorrectedSystemMean) -> str:
    mean = each.mean
    if mean.value is None:
        return _WHY.get(mean.reason or "", "–")
    return f"{mean.value:.3f} {interval(mean.ci95)}"
