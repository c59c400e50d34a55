"""Check that the fields of a system's answer have their declared types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rageval.errors import SystemContractError, short_repr
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.trace.steps import END_REASONS, end_of

__all__ = ["check_fields"]


def check_fields(answer: Answer, name: str) -> None:
    """Raise `SystemContractError` if a field of the system's ``answer`` has a type that no report can hold."""
    head = f"rag_system {name!r} returned an Answer whose"
    ranking: object = answer.ranking
    if isinstance(ranking, Ranking) and (fault := ranking.fault) is not None:
        raise SystemContractError(f"{head} ranking {fault}")
    for part, value, wanted in _type_problems(answer):
        raise SystemContractError(f"{head} {part} is {short_repr(value)}; it must be {wanted} or left out")


def _type_problems(answer: Answer) -> Iterator[tuple[str, object, str]]:
    """Yield the name of each invalid field, its value, and a description of a valid value."""
    ranking: object = answer.ranking
    if not (ranking is None or isinstance(ranking, Ranking)):
        yield "ranking", ranking, "a Ranking of ScoredPassage"
    abstained: object = answer.abstained
    if not (abstained is None or isinstance(abstained, bool)):
        yield "abstained", abstained, "True, False, None"
    trace: object = answer.trace
    if not (isinstance(trace, Sequence) and all(isinstance(s, Step) and isinstance(s.detail, Mapping) for s in trace)):
        yield "trace", trace, "a tuple of Step"
    elif isinstance(reason := _end_reason(answer.trace), str) and reason not in END_REASONS:
        yield "trace's end.reason", reason, f"one of {', '.join(END_REASONS)},"
    usage: object = answer.usage
    if isinstance(usage, Usage):
        if usage.fault:
            yield f"usage.{usage.fault}", getattr(usage, usage.fault), "a finite number of 0 or more"
    elif usage is not None:
        yield "usage", usage, "a Usage"


def _end_reason(trace: Sequence[Step]) -> object:
    """Return the reason of the end in a trace; None if there is none."""
    end = end_of(trace)
    try:
        return None if end is None else end.detail.get("reason")
    except Exception:  # a user's mapping may raise anything
        return None
