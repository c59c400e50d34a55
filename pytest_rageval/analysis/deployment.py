"""Measure what running a system costs: seconds of each stage, and facts of its retrievers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.statistics import quantile
from pytest_rageval.model.facts import RETRIEVE, Facts, retriever_of
from pytest_rageval.model.outcome import Outcome

__all__ = ["Stage", "merge_facts", "retrieval_stage_of_each", "retrieval_stages", "settings_of", "stages_of"]

MEASURED_SUFFIXES = ("_s", "_bytes")
"""Ends of the names of facts that each process measures itself: seconds and bytes."""

RECALL = "recall@"


@dataclass(frozen=True, slots=True)
class Stage:
    """Seconds of one stage over the answers of a system, or of a retriever over its queries.

    Attributes:
        name: name of the system or retriever.
        stage: the kind of the step, such as "retrieve" or "generate".
        n: number of answers that report the stage.
        p50_s, p95_s: median and 95th percentile of the seconds of the stage in an answer.
    """

    name: str
    stage: str
    n: int
    p50_s: float
    p95_s: float


def stages_of(outcomes: Iterable[Outcome]) -> list[Stage]:
    """Return the stages of each system, in the order of its answers' traces.

    A stage is a step with ``seconds`` in the trace of an answer. Stages of replayed answers are left out, because their
    time is not measured. Retrieval steps with seconds always count, because a replayed retrieval has none.
    """
    return _stages(
        ((outcome.system, kind), seconds)
        for outcome in outcomes
        for kind, _, seconds in _steps(outcome)
        if kind == RETRIEVE or _is_measured(outcome)
    )


def retrieval_stages(outcomes: Iterable[Outcome]) -> dict[str, Stage]:
    """Return retriever name -> its retrieval stage, for the retrievers that the answers name."""
    queries = (
        ((retriever, kind), seconds)
        for outcome in outcomes
        for kind, retriever, seconds in _steps(outcome)
        if kind == RETRIEVE and retriever
    )
    return {stage.name: stage for stage in _stages(queries)}


def retrieval_stage_of_each(retrievers: Sequence[Facts], queries: Mapping[str, Stage]) -> list[Stage | None]:
    """Return the retrieval stage of each retriever; None if no answer names it, or if several have the same name."""
    names = [retriever_of(facts) for facts in retrievers]
    counts = Counter(names)
    return [queries.get(name) if counts[name] == 1 else None for name in names]


def settings_of(facts: Facts) -> Facts:
    """Return the settings that identify a retriever: all known facts except seconds, bytes and recall."""
    return {
        key: value
        for key, value in facts.items()
        if value is not None and not key.endswith(MEASURED_SUFFIXES) and RECALL not in key
    }


def merge_facts(known: Sequence[Facts], report: Facts) -> list[Facts]:
    """Merge the facts of one retriever, reported by another process, into the known facts of all retrievers.

    Two retrievers are the same if all their settings are equal. Each process measures its own seconds and bytes; the
    highest value is kept.
    """
    same = [facts for facts in known if settings_of(facts) == settings_of(report)]
    if not same:
        return [*known, report]
    both = {**same[0], **{key: value for key, value in report.items() if value is not None}}
    for key in both:
        values = [value for value in (same[0].get(key), report.get(key)) if isinstance(value, int | float)]
        if key.endswith(MEASURED_SUFFIXES):
            both[key] = max(values, default=None)
    return [both if facts is same[0] else facts for facts in known]


def _steps(outcome: Outcome) -> Iterator[tuple[str, str, float]]:
    """Yield (kind, retriever, seconds) of each stage of an answer, summed over steps of the same kind and retriever."""
    totals: dict[tuple[str, str], float] = {}
    for step in () if outcome.answer is None else outcome.answer.trace:
        seconds = step.detail.get("seconds")
        if isinstance(seconds, int | float):
            key = step.kind, str(step.detail.get("retriever") or "")
            totals[key] = totals.get(key, 0.0) + seconds
    for (kind, retriever), seconds in totals.items():
        yield kind, retriever, seconds


def _is_measured(outcome: Outcome) -> bool:
    usage = None if outcome.answer is None else outcome.answer.usage
    return usage is not None and usage.latency_s is not None


def _stages(timings: Iterable[tuple[tuple[str, str], float]]) -> list[Stage]:
    by_stage: dict[tuple[str, str], list[float]] = {}
    for key, seconds in timings:
        by_stage.setdefault(key, []).append(seconds)
    return [
        Stage(name, stage, len(values), quantile(values, 0.5) or 0.0, quantile(values, 0.95) or 0.0)
        for (name, stage), values in by_stage.items()
    ]
