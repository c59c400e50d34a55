"""``rageval show RUN --case ID``: print one case of a run with the steps of its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.errors import UnknownNameError, ascii_safe
from pytest_rageval.metrics.diagnosis.diagnose import WORDS
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.files.read_results import StoredRun
from pytest_rageval.report.text.lines import number
from pytest_rageval.report.text.steps import step_lines

__all__ = ["outcomes_of_case", "show_case"]


def show_case(run: str | None, case: str) -> Iterator[str]:
    """Yield the lines of a case: question, gold, answer, scores, diagnosis and steps, for each system and setting.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.
        case: the case's id, or the node id of its test.

    Raises:
        SettingError: the run or the case is unknown, or the results cannot be read.
    """
    stored = stored_run(rootdir(Path.cwd()), run)
    yield ascii_safe(stored.head)
    for outcome in outcomes_of_case(stored, case):
        yield ""
        yield from _lines(outcome, stored.results["instances"].get(outcome.case_id, {}))


def outcomes_of_case(stored: StoredRun, case: str) -> list[Outcome]:
    """Return the outcomes of a case; raise `UnknownNameError` if the run has none."""
    outcomes = list(stored.run.outcomes.values())
    found = [outcome for outcome in outcomes if case in (outcome.nodeid, outcome.case_id)]
    if not found:
        raise UnknownNameError("case", case, {outcome.case_id for outcome in outcomes})
    return found


def _lines(outcome: Outcome, instance: Mapping[str, Any]) -> Iterator[str]:
    yield f"{ascii_safe(outcome.nodeid)} - {outcome.status}, system {ascii_safe(outcome.system)}"
    has_texts = "question" in instance
    if has_texts:
        yield f"question: {_line(outcome.question or instance['question'])}"
    for slot in instance.get("gold", ()):
        yield f"gold: {_line(' / '.join(slot))}"
    if outcome.error_type is not None:
        yield f"error: {_line(outcome.error_type)}{'' if outcome.error is None else f' - {_line(outcome.error)}'}"
    if outcome.answer is not None and has_texts:
        yield f"answer: {_line(outcome.answer.text)}"
    for name, score in outcome.scores.items():
        yield f"{ascii_safe(name)}: {number(score.value) if score.reason is None else _line(score.reason)}"
    if outcome.diagnosis is not None:
        kind, why = outcome.diagnosis.type, outcome.diagnosis.why
        yield f"diagnosis: {kind} {WORDS[kind]} ({ascii_safe(why)})"
    if outcome.answer is None or not outcome.answer.trace:
        yield "steps: none recorded"
        return
    yield "steps:"
    yield from step_lines(outcome.answer.trace)


def _line(text: str) -> str:
    """Return a text in one line; line breaks become spaces."""
    return ascii_safe(" ".join(text.split()))
