"""Describe the shape of the summary's sections in results.json; see `results_shape`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypedDict

from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.model.storage import Amount, Bounds, Share

__all__ = [
    "Agreement",
    "Correlation",
    "Deployment",
    "Estimate",
    "RetrieverFacts",
    "Round",
    "StageTimes",
    "StoredBallots",
    "StoredDialogues",
    "Times",
]

Positive = Annotated[int, Bounds(1)]
Coefficient = Annotated[float, Bounds(-1, 1)]
Texts = tuple[str, ...]


class _Round(TypedDict):
    round: str
    mean: float | None
    n: int
    n_unscored: int
    ci95: Interval | None


class Round(_Round, total=False):
    """The metric over the turns of one round.

    Attributes:
        n_units: number of independent units of the cases; only if smaller than the number of cases
        unit: the facet that joins cases to units, or unit for several facets
    """

    n_cases: int
    n_units: Positive
    unit: str


class StoredDialogues(TypedDict):
    """Conversations of a testbed and system, by the primary metric.

    Attributes:
        testbed: key into testbeds
        n: number of conversations with a scored turn
        n_complete: number of conversations whose answered turns are all scored
        mean: mean of the conversations' means
        whole: share of the complete conversations without a missed turn
    """

    testbed: str
    system: str
    metric: str
    n: int
    n_complete: int
    mean: float | None
    whole: Share | None
    rounds: tuple[Round, ...]


class StoredBallots(TypedDict):
    """Agreement of the votes on a metric.

    Attributes:
        models: the voting models, as rag_judges names them
        unread: number of votes without a label
        answers: number of answers with at least two labels
        split: share of these answers with different labels
        two_judges: agreement of two models in the same order and repeat
        asked_again: agreement of one model with itself in a repeat
        swapped: agreement of one model with itself in reverse order
    """

    metric: str
    models: Annotated[Texts, Bounds(items=1)]
    votes: Annotated[int, Bounds(2)]
    unread: int
    answers: int
    split: Share | None
    two_judges: Agreement
    asked_again: Agreement
    swapped: Agreement


class Agreement(TypedDict):
    """Share of n pairs with equal labels; null without pairs."""

    share: Share | None
    n: int


class Deployment(TypedDict):
    """Cost of retrieval; absent if no system retrieved and no retriever reported facts."""

    retrievers: tuple[RetrieverFacts, ...]
    stages: tuple[StageTimes, ...]


class RetrieverFacts(TypedDict):
    """Facts that a retriever reports about itself.

    Attributes:
        name: name of the retriever, followed by a slash and its index if it has one
        facts: settings (only the last part of a path) and, if known, passages, build_s, load_s, disk_bytes,
            resident_bytes (of each process), recall@10 (against exact search)
        queries: times of its queries; null if no answer reports a time, or if several retrievers share the name
    """

    name: str
    facts: Mapping[str, str | float | bool | None]
    queries: Times | None


class StageTimes(TypedDict):
    """The times of a stage.

    Attributes:
        stage: kind of the trace steps that report seconds
    """

    system: str
    stage: str
    seconds: Times


class Times(TypedDict):
    """Quantiles of seconds over n answers."""

    n: Positive
    p50_s: Amount
    p95_s: Amount


class _Correlation(TypedDict):
    testbed: str
    system: str
    retrieval: str
    downstream: str
    n: int
    tau_b: Estimate
    rho: Estimate


class Correlation(_Correlation, total=False):
    """Rank correlation over the cases with both values, using means of repeats.

    Attributes:
        testbed: key into testbeds
        retrieval: a retrieval metric
        downstream: an answer metric
        tau_b: Kendall's tau-b
        rho: Spearman's rho, with average ranks for ties
        reason: why both are undefined: fewer than 3 cases, or a constant metric
    """

    reason: Literal["too_few", "constant"]


class Estimate(TypedDict):
    """A coefficient; ci95 is a percentile interval over resampled cases, null without an erag:MEASURE metric."""

    value: Coefficient | None
    ci95: Interval | None
