"""Format the agreement of metrics with people's preferences, as terminal lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from pytest_rageval.analysis.people.preferences import PairAgreement
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.pair_agreement import MatchedPairs, MetricPairAgreement, PreferenceAgreement
from pytest_rageval.report.terminal.agreement_tables import confusion_lines, estimate_text
from pytest_rageval.report.text.lines import counted, few_of, number
from pytest_rageval.report.text.tables import blocks_of

__all__ = ["pairs_json", "pairs_lines"]

MAX_NAMES = 5

TIE = "tie"


def pairs_lines(result: PreferenceAgreement, width: int) -> Iterator[str]:
    """Yield the agreement of metrics with people's preferences, for a terminal of ``width`` columns."""
    yield from _count_lines(result.matched)
    yield from _notes(result)
    yield ""
    yield "difference of a metric against people's preferences - value [95 % interval]"
    rows = [row for metric in result.metrics for row in _rows(metric, result.by)]
    columns = [
        ["n", *(str(each.agreement.n) for _, each in rows)],
        ["cases", *(str(each.agreement.n_cases) for _, each in rows)],
        ["agreement", *(estimate_text(each.agreement.accuracy) for _, each in rows)],
        ["without ties", *(_decided(each) for _, each in rows)],
        ["kappa", *(estimate_text(each.agreement.kappa) for _, each in rows)],
        ["alpha", *(estimate_text(each.agreement.alpha) for _, each in rows)],
    ]
    coefficients = [
        ["Pearson", *(estimate_text(each.correlations.pearson) for _, each in rows)],
        ["Spearman", *(estimate_text(each.correlations.spearman) for _, each in rows)],
        ["Kendall tau-b", *(estimate_text(each.correlations.kendall) for _, each in rows)],
    ]
    labels = [f"metric {result.by}".strip(), *(label for label, _ in rows)]
    for block in (*blocks_of(labels, columns, width), *blocks_of(labels, coefficients, width)):
        yield ""
        yield from block
    names = {pair.systems for pair in result.matched.pairs}
    first, second = next(iter(names)) if len(names) == 1 else ("first", "second")
    for metric in result.metrics:
        if metric.whole.agreement.n:
            yield from confusion_lines(metric.whole.agreement, metric.metric, (second, TIE, first))


def pairs_json(result: PreferenceAgreement) -> dict[str, Any]:
    """Return the agreement of metrics with people's preferences as builtins."""
    matched = result.matched
    return {
        "pairs": {
            "used": len(matched.pairs),
            "blank": [label.where for label in matched.blank],
            "unmatched": {why: [label.where for label in labels] for why, labels in matched.unmatched.items()},
            "systems": sorted({pair.systems for pair in matched.pairs}),
        },
        "people": None if result.people is None else {"alpha": result.people[0], "n": result.people[1]},
        "metrics": [
            {
                "metric": each.metric,
                "higher_is_better": each.higher_is_better,
                "unscored": dict(each.unscored),
                **asdict(each.whole),
                "by": {result.by: {value: asdict(part) for value, part in each.slices.items()}} if result.by else {},
            }
            for each in result.metrics
        ],
    }


def _count_lines(matched: MatchedPairs) -> Iterator[str]:
    cases = len({pair.label.id for pair in matched.pairs})
    systems = {pair.systems for pair in matched.pairs}
    names = ", ".join(f"{one} - {other}" for one, other in sorted(systems))
    yield f"{counted(len(matched.pairs), 'pair')} of answers to {counted(cases, 'case')}: {names}"
    if matched.blank:
        wheres = tuple(label.where for label in matched.blank)
        yield f"{counted(len(wheres), 'row')} without a preference: {few_of(wheres, MAX_NAMES)}"
    for why, labels in matched.unmatched.items():
        ids = tuple(ascii_safe(label.id) for label in labels)
        yield f"{counted(len(ids), 'pair')} not used, {why}: {few_of(ids, MAX_NAMES)}"


def _notes(result: PreferenceAgreement) -> Iterator[str]:
    for metric in result.metrics:
        if metric.unscored:
            reasons = ", ".join(f"{n} {reason}" for reason, n in metric.unscored.items())
            yield f"{metric.metric}: {counted(sum(metric.unscored.values()), 'pair')} without two scores ({reasons})"
    lower = [metric.metric for metric in result.metrics if not metric.higher_is_better]
    if lower:
        yield f"the lower score is the better answer: {', '.join(lower)}"
    yield "a metric prefers the better score; equal scores are a tie, and a tie agrees with a tie only"
    ties = ", ".join(f"{each.metric} {each.whole.n_equal}" for each in result.metrics)
    yield f"ties: people {max(each.whole.n_ties for each in result.metrics)}; {ties}"
    if result.people is not None:
        yield f"people among themselves: alpha {number(result.people[0])} over {counted(result.people[1], 'pair')}"


def _rows(metric: MetricPairAgreement, by: str) -> Iterator[tuple[str, PairAgreement]]:
    yield f"{metric.metric} all" if by else metric.metric, metric.whole
    for value, each in metric.slices.items():
        yield f"{metric.metric} {value}", each


def _decided(each: PairAgreement) -> str:
    return f"{estimate_text(each.decided)} of {each.n_decided}" if each.n_decided else "–"
