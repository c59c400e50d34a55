"""The usage of models and the errors of a session, as lines of the summary."""

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
    """Yield the line on model calls, if there were any with known usage."""
    total = run.calls()
    has_calls = run.unclaimed.calls or any(o.calls is not None and o.calls.calls for o in run.outcomes.values())
    has_usage = any(part is not None for part in (total.prompt_tokens, total.completion_tokens, total.cost_usd))
    if total.calls and (has_calls or has_usage):
        claimed = calls_of(run.outcomes.values(), Calls())
        yield Line(_calls_text(total, claimed if claimed.calls else total))


def error_kinds(run: Run) -> Iterator[Line]:
    """Yield counts of errors by kind."""
    outcomes = run.outcomes.values()
    yield from _kinds("errors", Counter(o.error_type for o in outcomes if o.status == "error" and o.error_type))


def unscored_kinds(run: Run) -> Iterator[Line]:
    """Yield counts of replies cut off at their token limit, and of unscored values by reason."""
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


def _calls_text(total: Calls, claimed: Calls) -> str:
    """Return the line; ``claimed`` is the usage of outcomes, a lower bound of what ``total`` does not know."""
    replayed = f" ({total.replayed:,} replayed)" if total.replayed else ""
    attempts = f"{total.attempts:,} attempt{'' if total.attempts == 1 else 's'}"
    sent, got, least = claimed.prompt_tokens, claimed.completion_tokens, "at least " if total.on_their_way else ""
    if total.prompt_tokens is None or total.completion_tokens is None:
        least = "at least "
    else:
        sent, got = total.prompt_tokens, total.completion_tokens
    tokens = "tokens unknown" if sent is None or got is None else f"{least}{sent:,} + {got:,} tokens"
    bound = "at least " if total.on_their_way else ""
    cost, spent = _price(total.cost_usd, claimed.cost_usd, bound), _price(total.spent_usd, claimed.spent_usd, bound)
    now = f" (spent now {spent})" if spent != cost else ""
    return f"model calls: {total.calls:,}{replayed}, {attempts} · {tokens} · cost {cost}{now}{_unknown(total)}"


def spent_text(calls: Calls) -> str:
    """Return the cost of an interrupted run and its unknown part; "" if neither is known."""
    if not calls.calls or calls.cost_usd is None:
        return ""
    least = "at least " if calls.on_their_way else ""
    return f"cost {least}{dollars(calls.cost_usd)}{_unknown(calls)}"


def _unknown(calls: Calls) -> str:
    """Return the number of calls without a reply, as the end of a sentence."""
    if not calls.on_their_way:
        return ""
    whose = "its" if calls.on_their_way == 1 else "their"
    return f"; {_cut(calls.on_their_way)}, {whose} cost is unknown"


def _cut(n: int) -> str:
    return "1 call was on its way" if n == 1 else f"{n:,} calls were on their way"


def _price(total: float | None, known: float | None, least: str = "") -> str:
    if total is not None:
        return f"{least}{dollars(total)}"
    return "unknown" if known is None else f"at least {dollars(known)}"
