"""The verdict of a run: the sentence at the top of every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pytest_rageval.report.text.lines import counted

__all__ = ["RunVerdict", "verdict_of"]

GREEN = (0, 5)
"""Exit statuses of pytest that are no failure: all passed, or no test was collected."""


class RunVerdict(NamedTuple):
    """The verdict of a run; ``kind`` is "open" if nothing failed but a gate is undecided."""

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
    """Return the verdict of gates and tests.

    Args:
        gates: number of gates that are "passed", "failed" and "skipped".
        inconclusive: passed gates that may hide a drop.
        not_decided: skipped gates that have only part of their cases selected.
        not_comparable: failed gates that have too few cases in the baseline to compare with.
        tests: number of failed tests, without gates.
        errors: number of cases that ended in an error, for a run without test results.
        cases: number of cases that ended in any way.
        interrupted: whether the user stopped the session.
        shard: "shard 1 of 3", or "" for a whole run.
        exitstatus: pytest's exit status; a plugin or a file that could not be written can make it a failure.
    """
    total = sum(gates.values())
    lacking = f" ({not_comparable} not comparable)" if not_comparable else ""
    failed = _failed(gates.get("failed", 0), total, tests, errors, lacking, judged=not (interrupted or shard))
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
        unjudged = ["no gate was judged"] if skipped or not part else []
        return RunVerdict("open", ", ".join([*unjudged, *([part] if part else ())]))
    but = [f"{n} {what}" for n, what in ((inconclusive, "inconclusive"), (skipped, "skipped")) if n]
    if but or part:
        of = [f"{', '.join(but)} of {total}"] if but else []
        return RunVerdict("open", ", ".join(["no gate failed", *of, *([part] if part else ())]))
    return RunVerdict("passed", "the gate holds" if total == 1 else f"all {total} gates hold")


def _failed(gates: int, total: int, tests: int, errors: int, lacking: str, *, judged: bool) -> str:
    """Return what failed, or ""."""
    others = counted(tests, "test") if tests else counted(errors, "case") if errors else ""
    if gates:
        return f"{gates} of {counted(total, 'gate')} failed{lacking}" + (f", and {others}" if others else "")
    if not others:
        return ""
    return f"{others} failed" + (", no gate failed" if total and judged else "")
