"""Find the old answers: those of the run that a session is compared with."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import RagEvalError
from pytest_rageval.hooks.config.baseline import read_against
from pytest_rageval.model.codec import decode_outcome
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.answers_file import answers_path, read_answers
from pytest_rageval.report.run.old_answers import AnswerSource, answers_of
from pytest_rageval.report.text.lines import counted

if TYPE_CHECKING:
    from pytest_rageval.hooks.config.option_groups import BaselineSetting
    from pytest_rageval.report.run.run import Run

__all__ = ["add_old_answers"]


def add_old_answers(run: Run, setting: BaselineSetting, runs: Path | None) -> list[str]:
    """Add the old answers to the outcomes of a run, and return warnings if they cannot be used.

    They come from the run that ``--rag-against`` names; else from the file next to the baseline, if
    ``rag_baseline_answers`` is set; else from the baseline's run, if it is still stored on this machine.

    Args:
        run: the run, with its baseline.
        setting: the options of the baseline.
        runs: the folder with the runs of this machine; None if nothing is stored.
    """
    earlier = run.narrowed_baseline()
    if earlier is None or not run.texts:
        return []
    try:
        run.source = _source(setting, earlier.run, runs)
    except RagEvalError as error:
        return [] if setting.update else [f"the old answers cannot be shown: {error}"]
    if setting.against is not None and not run.source.answers:
        return [f"the old answers cannot be shown: {run.source.name} has no texts of answers"]
    n_foreign = 0 if run.old_answers is None else run.old_answers.foreign
    run.add_old_answers()
    if not n_foreign or setting.update:
        return []
    answers = f"{counted(n_foreign, 'answer')} of {run.source.name}"
    problem = f"{answers} differ from those that the baseline {earlier.path} scored, and are not shown"
    return [f"{problem}; write both anew with --rag-update-baseline"]


def _source(setting: BaselineSetting, name: str, runs: Path | None) -> AnswerSource:
    """Return the old answers with the name of their source.

    Args:
        setting: the options of the baseline.
        name: the id of the baseline's run.
        runs: the folder with the runs of this machine; None if nothing is stored.
    """
    if setting.against is not None:
        return read_against(setting.against)[1]
    if setting.answers and setting.path is not None:
        path = answers_path(setting.path)
        return AnswerSource(path.name, read_answers(path))
    results_path = None if runs is None or not name or Path(name).name != name else runs / name / "results.json"
    if results_path is None or not results_path.is_file():
        return AnswerSource()
    with suppress(OSError, AttributeError, KeyError, TypeError, ValueError):  # no option names this file
        results = parse_json(results_path.read_bytes())
        if all("question" in instance for instance in results["instances"].values()):  # it has texts
            return AnswerSource(f"the run {name}", answers_of(map(decode_outcome, results["outcomes"])))
    return AnswerSource()
