"""The verdict of a run: the sentence at the top of every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pytest_rageval.report.text.lines import counted

__all__ = ["RunVerdict", "verdict_of"]

GREEN = (0, 5)
"""Exit statuses of pytest without a failure: all tests passed, or no test was collected."""


class RunVerdict(NamedTuple):
    """The verdict of a run; ``kind`` is "open" if nothing failed, but some gates or cases are not decided."""

    kind: Literal["passed", "failed", "open"]
    text: str


def verdict_of(
    gates: Mapping[str, int],
    *,
    inconclusive: int,
    not_decided: int = 0,
    not_comparable: int = 0,
    tests: int,
    errors: int,
    cases: int,
    interrupted: bool,
    shard: str,
    exitstatus: int,
) -> RunVerdict:
    """Return the verdict of a run.

    Args:
        gates: status ("passed", "failed", "skipped") -> number of gates.
        inconclusive: number of passed gates that may hide a drop.
        not_decided: number of skipped gates whose cases are only partly selected.
        not_comparable: number of failed gates with too few cases to compare with in the baseline.
        tests: number of failed tests, without gates.
        errors: number of cases that ended in an error, for a run without test results.
        cases: number of cases that ended, in an error or not.
        interrupted: whether the user stopped the session.
        shard: "shard 1 of 3", or "" for a whole run.
        exitstatus: pytest's exit status; a plugin or a file that could not be written can make it a failure.
    """
    total = sum(gates.values())
    comparable_note = f" ({not_comparable} not comparable)" if not_comparable else ""
    failed = _failure_text(
        gates.get("failed", 0), total, tests, errors, comparable_note, is_complete=not (interrupted or shard)
    )
    if interrupted:
        return RunVerdict("failed" if failed else "open", "interrupted" + (f", {failed} until then" if failed else ""))
    part = f"{counted(not_decided, 'gate')} not decided" if not_decided else ""
    if failed:
        return RunVerdict("failed", f"{failed}, {part}" if part else failed)
    if exitstatus not in GREEN:
        return RunVerdict("failed", f"nothing failed, and yet the exit status is {exitstatus}")
    if shard:
        return RunVerdict("open", f"{shard} ended, rageval merge decides the gates")
    if not cases:
        return RunVerdict("open", "no case was run")
    if not total:
        return RunVerdict("passed", "nothing failed, and there is no gate")
    skipped = gates.get("skipped", 0) - not_decided
    if not gates.get("passed"):
        no_gate = ["no gate was judged"] if skipped or not part else []
        return RunVerdict("open", ", ".join([*no_gate, *([part] if part else ())]))
    exceptions = [f"{n} {what}" for n, what in ((inconclusive, "inconclusive"), (skipped, "skipped")) if n]
    if exceptions or part:
        counts = [f"{', '.join(exceptions)} of {total}"] if exceptions else []
        return RunVerdict("open", ", ".join(["no gate failed", *counts, *([part] if part else ())]))
    return RunVerdict("passed", "the gate holds" if total == 1 else f"all {total} gates hold")


def _failure_text(gates: int, total: int, tests: int, errors: int, comparable_note: str, *, is_complete: bool) -> str:
    """Return the failed gates, tests or cases as text; "" if nothing failed."""
    others = counted(tests, "test") if tests else counted(errors, "case") if errors else ""
    if gates:
        return f"{gates} of {counted(total, 'gate')} failed{comparable_note}" + (f", and {others}" if others else "")
    if not others:
        return ""
    return f"{others} failed" + (", no gate failed" if total and is_complete else "")
