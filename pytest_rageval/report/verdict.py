"""What a run decided, as the sentence that the reports begin with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pytest_rageval.report.lines import counted

__all__ = ["RunVerdict", "verdict_of"]

GREEN = (0, 5)
"""Exit statuses of pytest that fail nothing: all passed, or no test was collected."""


class RunVerdict(NamedTuple):
    """What a run decided: ``kind`` is "open" where nothing failed, and yet not every gate says that all is well."""

    kind: Literal["passed", "failed", "open"]
    text: str


def verdict_of(
    gates: Mapping[str, int],
    *,
    inconclusive: int,
    tests: int,
    errors: int,
    cases: int,
    interrupted: bool,
    shard: str,
    exitstatus: int,
) -> RunVerdict:
    """Return what gates and tests decided.

    Args:
        gates: how many are "passed", "failed" and "skipped".
        inconclusive: how many of those that passed may hide a drop.
        tests: how many failed; gates are none of them.
        errors: how many cases ended in an error, for a run that does not tell its tests.
        cases: how many ended in any way.
        interrupted: whether the session was cut short by the user.
        shard: what part of a run it is: "shard 1 of 3", or "".
        exitstatus: pytest's, which a plugin or a file that could not be written makes a failure too.
    """
    total = sum(gates.values())
    failed = _failed(gates.get("failed", 0), total, tests, errors, judged=not (interrupted or shard))
    if interrupted:
        return RunVerdict("failed" if failed else "open", "interrupted" + (f", {failed} until then" if failed else ""))
    if failed:
        return RunVerdict("failed", failed)
    if exitstatus not in GREEN:
        return RunVerdict("failed", f"nothing failed, and yet the exit status is {exitstatus}")
    if shard:
        return RunVerdict("open", f"{shard} ended, rageval merge decides the gates")
    if not cases:
        return RunVerdict("open", "no case was run")
    if not total:
        return RunVerdict("passed", "nothing failed, and there is no gate")
    if not gates.get("passed"):
        return RunVerdict("open", "no gate was judged")
    but = [f"{n} {what}" for n, what in ((inconclusive, "inconclusive"), (gates.get("skipped", 0), "skipped")) if n]
    if but:
        return RunVerdict("open", f"no gate failed, {', '.join(but)} of {total}")
    return RunVerdict("passed", "the gate holds" if total == 1 else f"all {total} gates hold")


def _failed(gates: int, total: int, tests: int, errors: int, *, judged: bool) -> str:
    """Return what failed, or ""."""
    others = counted(tests, "test") if tests else counted(errors, "case") if errors else ""
    if gates:
        return f"{gates} of {counted(total, 'gate')} failed" + (f", and {others}" if others else "")
    if not others:
        return ""
    return f"{others} failed" + (", and no gate" if total and judged else "")
