"""Compute what each system costs: seconds, calls, tokens, dollars; next to its quality."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from statistics import fmean

from pytest_rageval.analysis.cells import Cell, value_of
from pytest_rageval.analysis.matrix import macro_average
from pytest_rageval.analysis.statistics import quantile
from pytest_rageval.analysis.systems.board import Board, Candidate
from pytest_rageval.analysis.systems.pareto import Point, fronts
from pytest_rageval.analysis.usage import calls_in_trace, is_replayed, outcomes_with_answer, usage_value
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.trace.steps import (
    COMPLETION,
    END,
    GENERATE,
    LIMITS,
    OUTAGES,
    PROGRAM,
    RETRIEVE,
    TOOL,
    end_reason,
)

__all__ = ["PARTS", "REST", "SHARES", "SystemCosts", "macro_of", "system_costs"]

PARTS = {COMPLETION: "model", GENERATE: "model", TOOL: "tools", RETRIEVE: "retrieval", PROGRAM: "program"}
"""Kind of a step -> the part of an answer's seconds that it counts to."""

REST = "rest"
"""The part for seconds of an answer that no step reports."""

SHARES = (*dict.fromkeys(PARTS.values()), REST)

SERVICE_ERRORS = (*OUTAGES, "connection", "timeout", "server_error", "rate_limited")
"""Kinds of errors that mean that a service was not reachable or did not answer."""

_RIGHT = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class SystemCosts:
    """The quality and the cost of one system.

    Attributes:
        system: the system.
        n: number of answers.
        quality: the metric over its cases; None without a case.
        p50_s, p95_s, mean_s: median, 95th percentile and mean of the seconds of an answer; None if none was measured.
        n_replayed: number of answers that were replayed; their time is not measured.
        model_calls, tool_calls, steps: means over the answers whose trace shows them; None without one.
        prompt_tokens, completion_tokens, cost_usd: means over answers; None if any answer does not report it.
        cost_per_right: cost of all answers in US dollars, divided by the number of right answers; None without one.
        shares: part of the time (see `SHARES`) -> its share in 0..1, over measured answers with a trace; {} without
            one.
        errors: number of cases that ended in an error.
        outages: number of these errors of a kind in `SERVICE_ERRORS`.
        limits: number of answers that ended at a limit, such as the highest number of steps.
        front: whether it is on the Pareto front: no other system is at least as good, fast and cheap, and better in one
            of these. None if its quality is unknown.
        dominated_by: the systems that keep it off the front.
    """

    system: Candidate
    n: int
    quality: Cell | None
    p50_s: float | None
    p95_s: float | None
    mean_s: float | None
    n_replayed: int
    model_calls: float | None
    tool_calls: float | None
    steps: float | None
    prompt_tokens: float | None
    completion_tokens: float | None
    cost_usd: float | None
    cost_per_right: float | None
    shares: Mapping[str, float] = field(default_factory=dict)
    errors: int = 0
    outages: int = 0
    limits: int = 0
    front: bool | None = None
    dominated_by: tuple[str, ...] = ()

    @property
    def mean(self) -> float | None:
        """The mean of the metric."""
        return None if self.quality is None else self.quality.mean


def system_costs(board: Board, among: Callable[[Outcome], bool] = lambda outcome: True) -> list[SystemCosts]:
    """Return the costs of each system over the outcomes that ``among`` accepts, with the Pareto front."""
    rows = []
    for candidate in board.candidates:
        chosen = [outcome for outcome in board.outcomes[candidate.name] if among(outcome)]
        if chosen:
            rows.append(_costs(board, candidate, chosen, board.cell(candidate.name, among)))
    higher_is_better = board.info.higher_is_better
    points = {row.system.name: Point(row.mean, row.p50_s, row.cost_usd) for row in rows}
    dominating = fronts(points, higher_is_better=higher_is_better)
    return [
        row
        if row.mean is None
        else replace(row, front=not dominating[row.system.name], dominated_by=dominating[row.system.name])
        for row in rows
    ]


def macro_of(rows: Sequence[SystemCosts]) -> SystemCosts:
    """Return the average of one system's rows, which are one for each value of a facet.

    A field is None if a row has no value for it.
    """

    def average(value: Callable[[SystemCosts], float | None]) -> float | None:
        return macro_average([Cell(value(row), row.n, 0, None) for row in rows])

    quality = Cell(average(lambda row: row.mean), sum(row.quality.n for row in rows if row.quality), 0, None)
    return SystemCosts(
        system=rows[0].system,
        n=sum(row.n for row in rows),
        quality=quality,
        p50_s=average(lambda row: row.p50_s),
        p95_s=average(lambda row: row.p95_s),
        mean_s=average(lambda row: row.mean_s),
        n_replayed=sum(row.n_replayed for row in rows),
        model_calls=average(lambda row: row.model_calls),
        tool_calls=average(lambda row: row.tool_calls),
        steps=average(lambda row: row.steps),
        prompt_tokens=average(lambda row: row.prompt_tokens),
        completion_tokens=average(lambda row: row.completion_tokens),
        cost_usd=average(lambda row: row.cost_usd),
        cost_per_right=average(lambda row: row.cost_per_right),
        errors=sum(row.errors for row in rows),
        outages=sum(row.outages for row in rows),
        limits=sum(row.limits for row in rows),
    )


def _costs(board: Board, system: Candidate, outcomes: Sequence[Outcome], quality: Cell | None) -> SystemCosts:
    answers = outcomes_with_answer(outcomes)
    seconds = [value for outcome in answers if (value := usage_value("latency_p50", outcome)) is not None]
    traces = [outcome.answer.trace for outcome in answers if outcome.answer is not None and outcome.answer.trace]
    cost = _total([usage_value("cost_usd", outcome) for outcome in answers])
    right = sum(outcome.status == "scored" and (value_of(board.metric, outcome) or 0) >= _RIGHT for outcome in outcomes)
    if not board.info.higher_is_better:
        right = sum(outcome.status == "scored" and value_of(board.metric, outcome) == 0 for outcome in outcomes)
    failed = [outcome for outcome in outcomes if outcome.status == "error"]
    return SystemCosts(
        system=system,
        n=len(answers),
        quality=quality,
        p50_s=quantile(seconds, 0.5),
        p95_s=quantile(seconds, 0.95),
        mean_s=fmean(seconds) if seconds else None,
        n_replayed=sum(map(is_replayed, answers)),
        model_calls=_calls("model_calls", answers),
        tool_calls=_calls("tool_calls", answers),
        steps=_mean(sum(step.kind != END for step in trace) for trace in traces),
        prompt_tokens=_per_answer([_used(outcome, "prompt_tokens") for outcome in answers]),
        completion_tokens=_per_answer([_used(outcome, "completion_tokens") for outcome in answers]),
        cost_usd=None if cost is None else cost / len(answers),
        cost_per_right=None if cost is None or not right else cost / right,
        shares=_shares(outcome.answer for outcome in answers if outcome.answer is not None),
        errors=len(failed),
        outages=sum(outcome.error_type in SERVICE_ERRORS for outcome in failed),
        limits=sum(end_reason(trace) in LIMITS for trace in traces),
    )


def _calls(name: str, answers: Sequence[Outcome]) -> float | None:
    known = (calls_in_trace(name, outcome.answer) for outcome in answers)
    return _mean(number for number in known if number is not None)


def _shares(answers: Iterable[Answer]) -> dict[str, float]:
    """Return part -> its share of the seconds of measured answers with a trace; {} if no step has seconds."""
    parts = dict.fromkeys(SHARES, 0.0)
    for answer in answers:
        latency = None if answer.usage is None else answer.usage.latency_s
        steps = list(_seconds_by_part(answer.trace))
        if latency is None or not steps:
            continue
        for part, seconds in steps:
            parts[part] += seconds
        parts[REST] += max(0.0, latency - fsum(seconds for _, seconds in steps))
    whole = fsum(parts.values())
    return {part: seconds / whole for part, seconds in parts.items()} if whole else {}


def _seconds_by_part(trace: Sequence[Step]) -> Iterator[tuple[str, float]]:
    """Yield (part, seconds) of each step; seconds of steps nested in it are subtracted.

    The step ``generate`` around completions is left out if the completions report their seconds.
    """
    seconds = [_seconds(step) for step in trace]
    nested = [0.0] * len(trace)
    for step, total in zip(trace, seconds, strict=True):
        parent = step.detail.get("parent")
        if isinstance(parent, int) and 0 <= parent < len(trace):
            nested[parent] += total
    has_completions = any(step.kind == COMPLETION for step in trace)
    completions_have_seconds = any(
        total and step.kind == COMPLETION for step, total in zip(trace, seconds, strict=True)
    )
    for step, total, of_nested in zip(trace, seconds, nested, strict=True):
        if step.kind == GENERATE and (completions_have_seconds or not has_completions):
            continue
        if total and step.kind in PARTS:
            yield PARTS[step.kind], max(0.0, total - of_nested)


def _seconds(step: Step) -> float:
    value = step.detail.get("seconds")
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0


def _used(outcome: Outcome, name: str) -> float | None:
    usage = None if outcome.answer is None else outcome.answer.usage
    value: float | None = getattr(usage, name, None)
    return value


def _total(values: Sequence[float | None]) -> float | None:
    """Return the sum of the values; None if any value is unknown or there are no values."""
    known = [value for value in values if value is not None]
    return fsum(known) if known and len(known) == len(values) else None


def _per_answer(values: Sequence[float | None]) -> float | None:
    total = _total(values)
    return None if total is None else total / len(values)


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return fmean(known) if known else None
