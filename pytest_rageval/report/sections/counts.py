"""The head of the summary: counts of cases, errors and unscored values, and model calls."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.analysis.clusters import by_case, has_repeats
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.chat import EMBEDDED
from pytest_rageval.model.facets import MODEL, is_variant
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.model_usage import error_kinds, model_calls, unscored_kinds
from pytest_rageval.report.sections.section import Screen, TerminalSection
from pytest_rageval.report.text.lines import Line, counted, wrap

__all__ = ["COUNTS", "counts_text"]

UNNAMED = "no fixture rag_system and no option names one"
"""Why a built-in system answers that nobody named."""


def _lines(run: Run, screen: Screen) -> Iterator[Line]:
    """Yield the head; without ``-v`` only what the account omits: the default system, replies cut off, lost values."""
    for line in _counts(run) if screen.verbosity > 0 else unscored_kinds(run):
        yield from wrap(line, screen.width, between=" · ")
    if run.plan.default_system and screen.verbosity > -1:
        yield from wrap(Line(f"system: {run.plan.default_system}, built in: {UNNAMED}"), screen.width)


def _counts(run: Run) -> Iterator[Line]:
    if run.interrupted:
        n_run = len(run.outcomes)
        yield Line(f"interrupted after {n_run} of {counted(n_run + run.unfinished().total(), 'case')}", "yellow")
    yield Line(counts_text(run), "bold")
    if run.resumed_note:
        yield Line(ascii_safe(run.resumed_note))
    yield from error_kinds(run)
    yield from unscored_kinds(run)
    yield from model_calls(run)


COUNTS = TerminalSection(_lines, verbosity=-1)


def counts_text(run: Run) -> str:
    """Return the number of cases by status, the systems, and the model ``embedded`` if it answered."""
    outcomes = list(run.outcomes.values())
    by_status = {status: sum(o.status == status for o in outcomes) for status in ("scored", "error", "skipped")}
    groups = list(by_case(outcomes).values()) if has_repeats(outcomes) else [[outcome] for outcome in outcomes]
    n_variants = sum(is_variant(group[0].facets) for group in groups)
    cases = counted(len(groups) - n_variants, "case") + (f" and {counted(n_variants, 'variant')}" if n_variants else "")
    if len(groups) < len(outcomes):
        cases = f"{len(outcomes)} runs of {cases}"
    parts = [f"{cases}: {by_status['scored']} scored", counted(by_status["error"], "error")]
    if by_status["skipped"]:
        parts.append(f"{by_status['skipped']} skipped")
    if unfinished := run.unfinished().total():
        parts.append(f"{unfinished} not run")
    if run.plan.unselected:
        parts.append(f"{run.plan.unselected} not selected")
    systems = sorted({outcome.system for outcome in outcomes})
    embedded = any(outcome.facets.get(MODEL) == EMBEDDED for outcome in outcomes)
    model = f" · model {EMBEDDED}" if embedded else ""
    shard = f" · {run.plan.shard}" if run.plan.shard else ""
    return ascii_safe(f"{', '.join(parts)} · system {', '.join(systems) or '–'}{model}{shard}")
