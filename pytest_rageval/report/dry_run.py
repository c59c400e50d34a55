"""The table of a dry run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.engine.estimate import Estimate
from pytest_rageval.report.tables import table_lines

__all__ = ["dry_run_lines"]

_HEAD = ("testbed", "system", "asked", "model", "cases", "calls", "recorded", "prompt tokens", "reply tokens", "USD")


def dry_run_lines(found: Sequence[Estimate], names: dict[str, str]) -> Iterator[str]:
    """Yield what a session would ask and what that may cost.

    Args:
        found: the estimates, in the order they are shown.
        names: node id of a testbed -> its short name.
    """
    rows = [_row(names[estimate.testbed], estimate) for estimate in found]
    yield from table_lines([_HEAD, *rows, _total(found)], left=4)
    yield ""
    yield "~ estimated; reply tokens and USD are the most they may be; ? not known before it is run. Nothing was asked."


def _row(name: str, estimate: Estimate) -> tuple[str, ...]:
    live = estimate.calls is None or estimate.calls > estimate.recorded
    return (
        name,
        estimate.system,
        estimate.what,
        estimate.model or "–",
        str(estimate.cases),
        "?" if estimate.calls is None else f"{estimate.calls:,}",
        f"{estimate.recorded:,}",
        _tokens(estimate.prompt_tokens, exact=estimate.exact) if live and estimate.calls is not None else "?" * live,
        _tokens(estimate.completion_tokens) if live and estimate.calls is not None else "?" * live,
        _dollars([estimate]),
    )


def _total(found: Sequence[Estimate]) -> tuple[str, ...]:
    known = [estimate for estimate in found if estimate.calls is not None]
    answers = sum(estimate.cases for estimate in found if estimate.what == "answer")
    calls = f"{sum(estimate.calls or 0 for estimate in known):,}"
    return (
        "all", "", "", "",
        str(answers),
        calls if len(known) == len(found) else f"{calls}+?",
        f"{sum(estimate.recorded for estimate in found):,}",
        _tokens(sum(e.prompt_tokens for e in known), exact=all(e.exact for e in known)),
        _tokens(sum(e.completion_tokens for e in known)),
        _dollars(found),
    )  # fmt: skip


def _tokens(count: int, *, exact: bool = True) -> str:
    return f"{count:,}" if exact else f"~{count:,}"


def _dollars(found: Sequence[Estimate]) -> str:
    """Return the sum of what is known; a part that is not makes it unknown."""
    costs = [None if estimate.calls is None else estimate.cost_usd for estimate in found]
    if any(cost is None for cost in costs):
        return "?"
    return f"{sum(cost or 0.0 for cost in costs):.4f}"
