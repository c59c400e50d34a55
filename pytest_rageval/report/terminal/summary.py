"""Print the summary after the session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_rageval.analysis.clusters import by_case, repeated
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.run.warnings import warnings_of
from pytest_rageval.report.sections.comparison import comparison_lines
from pytest_rageval.report.sections.conversations import dialogue_lines
from pytest_rageval.report.sections.correlations import correlation_lines
from pytest_rageval.report.sections.deployment import deployment_lines
from pytest_rageval.report.sections.gates import gate_lines
from pytest_rageval.report.sections.judge_trust import trust_lines
from pytest_rageval.report.sections.judge_votes import ballot_lines
from pytest_rageval.report.sections.matrices import matrix_lines
from pytest_rageval.report.sections.model_usage import error_kinds, model_calls
from pytest_rageval.report.sections.repeats import repeat_lines
from pytest_rageval.report.text.heat import worst_lines
from pytest_rageval.report.text.lines import Line, counted, wrap
from pytest_rageval.report.text.tables import curve_lines

__all__ = ["counts_text", "summary_lines", "written_lines"]


def summary_lines(run: Run, choice: MatrixChoice, width: int, verbosity: int) -> Iterator[Line]:
    """Yield the summary: counts, model calls, matrices, curves, further sections, gates, warnings.

    Args:
        run: the run, its gates evaluated.
        choice: the matrix to show.
        width: columns of the terminal.
        verbosity: pytest's; -1 leaves out the worst cells, curves, conversations, retrievers and passed gates, -2
            everything except failed gates.
    """
    for line in _sections(run, choice, width, verbosity):
        yield from (line,) if line.marks else wrap(line, width)


def _sections(run: Run, choice: MatrixChoice, width: int, verbosity: int) -> Iterator[Line]:
    if verbosity > -2:
        for line in _counts(run):
            yield from wrap(line, width, between=" · ")
        infos, matrices = run.plan.metrics, run.matrices(choice)
        yield from matrix_lines([*matrices, *run.differences(choice), *run.gains(choice)], infos, width)
        if verbosity > -1:
            yield from worst_lines(matrices, infos)
            yield from _curves(run, width)
            yield from dialogue_lines(run, width)
        comparison = run.comparison(choice)
        if comparison is not None:
            failed = any(gate.result.regressed for gate in run.gates)
            yield from comparison_lines(comparison, width, run.plan.alpha, failed=failed)
        yield from trust_lines(run, width)
        yield from ballot_lines(run, width)
        yield from repeat_lines(run, width)
        yield from correlation_lines(run, width)
        if verbosity > -1:
            yield from deployment_lines(run, width)
    gates = [g.result for g in run.gates if g.result.status == "failed" or verbosity > -1]
    yield from gate_lines(gates, width, every=verbosity > 0)
    if verbosity > -2:
        yield from _warnings(run)


def _counts(run: Run) -> Iterator[Line]:
    if run.interrupted:
        ended = len(run.outcomes)
        yield Line(f"interrupted after {ended} of {counted(ended + run.unfinished().total(), 'case')}", "yellow")
    yield Line(counts_text(run), "bold")
    if run.taken_over:
        yield Line(ascii_safe(run.taken_over))
    yield from error_kinds(run)
    yield from model_calls(run)


def counts_text(run: Run) -> str:
    """Return how many cases there were, how they ended, and their systems."""
    outcomes = list(run.outcomes.values())
    by_status = {status: sum(o.status == status for o in outcomes) for status in ("scored", "error", "skipped")}
    n_cases = len(by_case(outcomes)) if repeated(outcomes) else len(outcomes)
    cases = (
        counted(n_cases, "case") if n_cases == len(outcomes) else f"{len(outcomes)} runs of {counted(n_cases, 'case')}"
    )
    parts = [f"{cases}: {by_status['scored']} scored", counted(by_status["error"], "error")]
    if by_status["skipped"]:
        parts.append(f"{by_status['skipped']} skipped")
    if unfinished := run.unfinished().total():
        parts.append(f"{unfinished} not run")
    if run.plan.unselected:
        parts.append(f"{run.plan.unselected} not selected")
    systems = sorted({outcome.system for outcome in outcomes})
    shard = f" · {run.plan.shard}" if run.plan.shard else ""
    return ascii_safe(f"{', '.join(parts)} · system {', '.join(systems) or '–'}{shard}")


def written_lines(paths: Sequence[Path], here: Path, width: int) -> Iterator[Line]:
    """Yield the paths of written reports, relative to ``here`` if they are below it."""
    shown = [ascii_safe(str(path.relative_to(here) if path.is_relative_to(here) else path)) for path in paths]
    text = f"written: {', '.join(shown)}"
    if shown and len(text) <= width:
        yield Line(text)
    else:
        yield from (Line(f"written: {each}") for each in shown)


def _curves(run: Run, width: int) -> Iterator[Line]:
    curves = run.curves()
    several = len({system for _, system, _, _ in curves}) > 1
    for metric in dict.fromkeys(metric for _, _, metric, _ in curves):
        binary = run.plan.metrics.get(metric, MetricInfo()).binary
        rows = [
            (f"{name} ({system})" if several else name, binary, group)
            for name, system, its_metric, group in curves
            if its_metric == metric
        ]
        yield Line("")
        yield Line(f"{metric} over noise rates")
        yield from curve_lines(rows, metric, width)


def _warnings(run: Run) -> Iterator[Line]:
    results = [gate.result for gate in run.gates]
    notes = warnings_of(run.plan, [(each.scope, str(each.gate)) for each in results if each.undecided])
    if notes:
        yield Line("")
    for note in notes:
        yield Line(ascii_safe(f"warning: {note}"), "yellow")
