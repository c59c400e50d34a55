"""Print the table of a dry run: planned calls, tokens and cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rageval.engine.estimate import AskRequests, Estimate
from pytest_rageval.report.run.unseen_calls import UNSEEN
from pytest_rageval.report.text.lines import counted, few_of
from pytest_rageval.report.text.tables import table_lines

__all__ = ["dry_run_lines", "request_lines"]

_HEAD = ("testbed", "system", "asked", "model", "cases", "calls", "recorded", "prompt tokens", "reply tokens", "USD")


def dry_run_lines(
    estimates: Sequence[Estimate], names: Mapping[str, str], unseen_systems: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the calls that a session would make and their estimated cost.

    Args:
        estimates: the estimates, in display order.
        names: node id of a testbed -> its short name.
        unseen_systems: names of the user's systems whose model calls cannot be counted.
    """
    rows = [_row(names[estimate.testbed], estimate) for estimate in estimates]
    yield from table_lines([_HEAD, *rows, _total(estimates)], left=4)
    yield ""
    if unseen_systems:
        scope = "a dry run counts those of the built-in systems"
        yield f"{UNSEEN}: {few_of(tuple(unseen_systems), 3)}; {scope}."
    uncertain = sum(each.calls or 0 for each in estimates if not each.counted)
    if uncertain:
        yield f"At most {uncertain:,} of these calls depend on the answers."
    yield "~ is an estimate; without ~, reply tokens and USD are upper bounds; ? is unknown before the run."
    yield "Nothing was asked."


def request_lines(asking: Sequence[AskRequests]) -> Iterator[str]:
    """Yield a line for each test with ``rag_ask`` and each of its systems."""
    for each in asking:
        model = f" with {each.model}" if each.model else ""
        head = f"rag_ask: {each.nodeid} asks {each.system}{model}"
        if each.each is None:
            examples = f", in each of {each.examples} examples" if each.examples > 1 else ""
            yield f"{head} as often as its code says{examples}"
        else:
            how = f" ({each.examples} examples, {counted(each.each, 'request')} each)" if each.examples > 1 else ""
            yield f"{head} at most {counted(each.examples * each.each, 'time')}{how}"
    if any(each.examples > 1 for each in asking):
        yield "A failing property asks more, to find a smaller example; equal requests are asked once."


def _row(name: str, estimate: Estimate) -> tuple[str, ...]:
    is_known = estimate.calls is not None
    live = estimate.calls is not None and estimate.calls > estimate.recorded
    return (
        name,
        estimate.system,
        estimate.what,
        estimate.model or "–",
        str(estimate.cases),
        _count(estimate.calls or 0, exact=estimate.counted) if is_known else "?",
        f"{estimate.recorded:,}",
        _count(estimate.prompt_tokens, exact=estimate.exact) if live else "" if is_known else "?",
        _count(estimate.completion_tokens, exact=estimate.bounded) if live else "" if is_known else "?",
        _dollars([estimate]),
    )


def _total(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    with_calls = [estimate for estimate in estimates if estimate.calls is not None]
    more = "" if len(with_calls) == len(estimates) else "+?"
    return (
        "all", "", "", "",
        str(sum(estimate.cases for estimate in estimates if estimate.what == "answer")),
        _count(sum(e.calls or 0 for e in with_calls), exact=all(e.counted for e in with_calls)) + more,
        f"{sum(estimate.recorded for estimate in estimates):,}",
        _count(sum(e.prompt_tokens for e in with_calls), exact=all(e.exact for e in with_calls)) + more,
        _count(sum(e.completion_tokens for e in with_calls), exact=all(e.bounded for e in with_calls)) + more,
        _dollars(estimates),
    )  # fmt: skip


def _count(count: int, *, exact: bool) -> str:
    return f"{count:,}" if exact else f"~{count:,}"


def _dollars(estimates: Sequence[Estimate]) -> str:
    """Return the sum of the costs; it is unknown if any cost is."""
    costs = [None if estimate.calls is None else estimate.cost_usd for estimate in estimates]
    if any(cost is None for cost in costs):
        return "?"
    exact = all(estimate.exact and estimate.bounded for estimate in estimates)
    return f"{'' if exact else '~'}{sum(cost or 0.0 for cost in costs):.4f}"
