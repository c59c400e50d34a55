"""The warnings of the summary."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.analysis.people.bias import FAIR
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.warnings import unrecorded_results, warnings_of
from pytest_rageval.report.sections.judge_bias import bias_text
from pytest_rageval.report.sections.judge_trust import distrust_text
from pytest_rageval.report.sections.local_judges import unlike_training
from pytest_rageval.report.sections.section import Screen, TerminalSection
from pytest_rageval.report.text.lines import Line

__all__ = ["WARNINGS"]


def _lines(run: Run, screen: Screen) -> Iterator[Line]:
    results = [gate.result for gate in run.gates]
    undecided = [(each.scope, str(each.gate)) for each in results if each.undecided]
    comparison = run.comparison(screen.choice)
    notes = warnings_of(run.plan, undecided, {} if comparison is None else comparison.unscored)
    notes += unrecorded_results(run.outcomes.values()) if run.texts else []
    notes += unlike_training(run.local_uses)
    if screen.verbosity < 1:  # -v shows the sections on judges
        notes += [distrust_text(trust) for trust in run.trusts if trust.problem is not None]
        notes += [bias_text(bias) for bias in run.biases if bias.verdict != FAIR]
    if notes:
        yield Line("")
    for note in notes:
        yield Line(ascii_safe(f"warning: {note}"), "yellow")


WARNINGS = TerminalSection(_lines, verbosity=-1)
