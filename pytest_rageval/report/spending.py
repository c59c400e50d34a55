"""What the session's model calls came to, and what went wrong, as lines of the summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.calls import Calls
from pytest_rageval.report.lines import Line, dollars
from pytest_rageval.report.run import Run

__all__ = ["error_kinds", "model_calls"]


def model_calls(run: Run) -> Iterator[Line]:
    """Yield the line on model calls, where there were any that something is known of."""
    total = run.calls()
    counted = run.unclaimed.calls or any(o.calls is not None and o.calls.calls for o in run.outcomes.values())
    told = any(part is not None for part in (total.prompt_tokens, total.completion_tokens, total.cost_usd))
    if total.calls and (counted or told):
        yield Line(_calls_text(total))


def error_kinds(run: Run) -> Iterator[Line]:
    """Yield the line on how many errors of each kind there were, the most frequent first."""
    kinds = Counter(o.error_type for o in run.outcomes.values() if o.status == "error" and o.error_type)
    if kinds:
        ordered = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
        yield Line(ascii_safe(f"errors: {', '.join(f'{n} {kind}' for kind, n in ordered)}"))


def _calls_text(total: Calls) -> str:
    replayed = f" ({total.replayed:,} replayed)" if total.replayed else ""
    attempts = f"{total.attempts:,} attempt{'' if total.attempts == 1 else 's'}"
    if total.prompt_tokens is None or total.completion_tokens is None:
        tokens = "tokens unknown"
    else:
        tokens = f"{total.prompt_tokens:,} + {total.completion_tokens:,} tokens"
    spent = f" (spent now {_price(total.spent_usd)})" if total.spent_usd != total.cost_usd else ""
    return f"model calls: {total.calls:,}{replayed}, {attempts} · {tokens} · cost {_price(total.cost_usd)}{spent}"


def _price(value: float | None) -> str:
    return "unknown" if value is None else dollars(value)
