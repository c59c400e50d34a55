"""The lines of the summary on model calls, errors and unscored values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from pytest_rageval.analysis.usage import calls_of
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.text.lines import Line, counted, dollars

__all__ = ["error_kinds", "kinds_text", "model_calls", "spent_text", "unscored_kinds"]


def model_calls(run: Run) -> Iterator[Line]:
    """Yield a line on calls, tokens and cost, if models were called and something is known."""
    total = run.calls()
    has_calls = run.unclaimed.calls or any(o.calls is not None and o.calls.calls for o in run.outcomes.values())
    has_usage = any(part is not None for part in (total.prompt_tokens, total.completion_tokens, total.cost_usd))
    if total.calls and (has_calls or has_usage):
        of_outcomes = calls_of(run.outcomes.values(), Calls())
        yield Line(_calls_text(total, of_outcomes if of_outcomes.calls else total))


def error_kinds(run: Run) -> Iterator[Line]:
    """Yield a line with the number of errors of each kind."""
    outcomes = run.outcomes.values()
    yield from _kinds("errors", Counter(o.error_type for o in outcomes if o.status == "error" and o.error_type))


def unscored_kinds(run: Run) -> Iterator[Line]:
    """Yield the number of answers cut off at the token limit, and of unscored values by reason."""
    outcomes = run.outcomes.values()
    cut_off = sum(map(_is_cut_off, outcomes))
    if cut_off:
        yield Line(f"cut off at the token limit and scored as they are: {counted(cut_off, 'answer')}", "yellow")
    scores = ((name, score.reason) for o in outcomes if o.status == "scored" for name, score in o.scores.items())
    reasons = ((name, reason.partition(":")[0]) for name, reason in scores if reason)
    yield from _kinds("unscored", Counter(f"{why} ({name})" for name, why in reasons if why != "not_applicable"))


def _is_cut_off(outcome: Outcome) -> bool:
    """Return whether a scored answer contains a model's reply that stopped at its token limit."""
    steps = outcome.answer.trace if outcome.status == "scored" and outcome.answer is not None else ()
    return any(step.detail.get("finish_reason") == "length" for step in steps)


def _kinds(head: str, kinds: Counter[str]) -> Iterator[Line]:
    """Yield a line of kinds, the most frequent first."""
    if kinds:
        yield Line(ascii_safe(f"{head}: {kinds_text(kinds)}"))


def kinds_text(kinds: Mapping[str, int]) -> str:
    """Return ``3 DeskClosed, 1 TimeoutError``, the most frequent first."""
    return ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0])))


def _calls_text(total: Calls, of_outcomes: Calls) -> str:
    """Return the line on model calls.

    Args:
        total: the usage of all calls.
        of_outcomes: the usage of the outcomes' calls, a lower bound if ``total`` is unknown.
    """
    replayed = f" ({total.replayed:,} replayed)" if total.replayed else ""
    attempts = f"{total.attempts:,} attempt{'' if total.attempts == 1 else 's'}"
    at_least = "at least " if total.on_their_way else ""
    known = of_outcomes if total.prompt_tokens is None or total.completion_tokens is None else total
    prompt, completion = known.prompt_tokens, known.completion_tokens
    bound = at_least if known is total else "at least "
    tokens = "tokens unknown" if prompt is None or completion is None else f"{bound}{prompt:,} + {completion:,} tokens"
    cost = _price(total.cost_usd, of_outcomes.cost_usd, at_least)
    spent = _price(total.spent_usd, of_outcomes.spent_usd, at_least)
    now = f" (spent now {spent})" if spent != cost else ""
    return f"model calls: {total.calls:,}{replayed}, {attempts} · {tokens} · cost {cost}{now}{_unknown_cost(total)}"


def spent_text(calls: Calls) -> str:
    """Return the cost of an interrupted run, and the number of calls of unknown cost; "" if the cost is unknown."""
    if not calls.calls or calls.cost_usd is None:
        return ""
    at_least = "at least " if calls.on_their_way else ""
    return f"cost {at_least}{dollars(calls.cost_usd)}{_unknown_cost(calls)}"


def _unknown_cost(calls: Calls) -> str:
    """Return the end of a sentence with the number of calls without a reply; "" if all have one."""
    if not calls.on_their_way:
        return ""
    whose = "its" if calls.on_their_way == 1 else "their"
    return f"; {_in_flight_text(calls.on_their_way)}, {whose} cost is unknown"


def _in_flight_text(n: int) -> str:
    return "1 call was on its way" if n == 1 else f"{n:,} calls were on their way"


def _price(total: float | None, known: float | None, at_least: str = "") -> str:
    """Return a price; ``known`` is a lower bound of an unknown total."""
    if total is not None:
        return f"{at_least}{dollars(total)}"
    return "unknown" if known is None else f"at least {dollars(known)}"
