"""What it takes to run a system: the seconds of each stage, and what its retrievers weigh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.statistics import quantile
from pytest_rageval.model.facts import RETRIEVE, Facts, retriever_of
from pytest_rageval.model.outcome import Outcome

__all__ = ["Stage", "merged", "queries_of", "queries_of_each", "settings_of", "stages_of"]

MEASURED = ("_s", "_bytes")
RECALL = "recall@"


@dataclass(frozen=True, slots=True)
class Stage:
    """The seconds that one stage took over the answers of a system, or a retriever over its queries.

    Attributes:
        name: of the system, or of the retriever.
        stage: the kind of the step, as "retrieve" or "generate".
        n: answers that tell it.
        p50_s, p95_s: quantiles of the seconds that an answer spent in it.
    """

    name: str
    stage: str
    n: int
    p50_s: float
    p95_s: float


def stages_of(outcomes: Iterable[Outcome]) -> list[Stage]:
    """Return the stages of each system, in the order that its answers go through them.

    A stage is what a step of an answer's trace with ``seconds`` tells. What was replayed took no time worth measuring,
    but for its retrieval, which is never recorded.
    """
    return _stages(
        ((outcome.system, kind), seconds)
        for outcome in outcomes
        for kind, _, seconds in _steps(outcome)
        if kind == RETRIEVE or _is_measured(outcome)
    )


def queries_of(outcomes: Iterable[Outcome]) -> dict[str, Stage]:
    """Return the queries of each retriever that the answers name, by its name."""
    told = (
        ((retriever, kind), seconds)
        for outcome in outcomes
        for kind, retriever, seconds in _steps(outcome)
        if kind == RETRIEVE and retriever
    )
    return {stage.name: stage for stage in _stages(told)}


def queries_of_each(retrievers: Sequence[Facts], queries: Mapping[str, Stage]) -> list[Stage | None]:
    """Return the queries of each retriever; None where no answer names it, or several go by that name."""
    names = [retriever_of(facts) for facts in retrievers]
    bearers = Counter(names)
    return [queries.get(name) if bearers[name] == 1 else None for name in names]


def settings_of(facts: Facts) -> Facts:
    """Return the facts that tell which retriever it is: all that are known, but its seconds, bytes and recall."""
    return {
        key: value
        for key, value in facts.items()
        if value is not None and not key.endswith(MEASURED) and RECALL not in key
    }


def merged(known: Sequence[Facts], told: Facts) -> list[Facts]:
    """Return the facts of all retrievers with what one more process tells of one.

    Retrievers are one when they share all settings. Of seconds and bytes the most is kept: each process has its own.
    """
    same = [facts for facts in known if settings_of(facts) == settings_of(told)]
    if not same:
        return [*known, told]
    both = {**same[0], **{key: value for key, value in told.items() if value is not None}}
    for key in both:
        values = [value for value in (same[0].get(key), told.get(key)) if isinstance(value, int | float)]
        if key.endswith(MEASURED):
            both[key] = max(values, default=None)
    return [both if facts is same[0] else facts for facts in known]


def _steps(outcome: Outcome) -> Iterator[tuple[str, str, float]]:
    """Yield (kind, retriever, seconds) of the stages of an answer; steps of one kind are one stage."""
    found: dict[tuple[str, str], float] = {}
    for step in () if outcome.answer is None else outcome.answer.trace:
        seconds = step.detail.get("seconds")
        if isinstance(seconds, int | float):
            key = step.kind, str(step.detail.get("retriever") or "")
            found[key] = found.get(key, 0.0) + seconds
    for (kind, retriever), seconds in found.items():
        yield kind, retriever, seconds


def _is_measured(outcome: Outcome) -> bool:
    usage = None if outcome.answer is None else outcome.answer.usage
    return usage is not None and usage.latency_s is not None


def _stages(told: Iterable[tuple[tuple[str, str], float]]) -> list[Stage]:
    found: dict[tuple[str, str], list[float]] = {}
    for key, seconds in told:
        found.setdefault(key, []).append(seconds)
    return [
        Stage(name, stage, len(values), quantile(values, 0.5) or 0.0, quantile(values, 0.95) or 0.0)
        for (name, stage), values in found.items()
    ]
