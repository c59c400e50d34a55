"""Read the baseline of a session, and decide whether a run may replace or update it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.analysis.baseline.stale_labels import has_stale_score
from pytest_rageval.errors import RagEvalError, SettingError, short_repr
from pytest_rageval.report.text.lines import counted

if TYPE_CHECKING:
    from pytest_rageval.analysis.baseline.snapshot import Measured, Snapshot
    from pytest_rageval.analysis.gates import Gate
    from pytest_rageval.hooks.config.option_groups import BaselineSetting
    from pytest_rageval.report.run.old_answers import AnswerSource, StoredAnswer
    from pytest_rageval.report.run.run import Run

__all__ = [
    "load_baseline",
    "next_answers",
    "next_baseline",
    "read_against",
    "refuse_baseline",
    "why_no_update",
]


def load_baseline(setting: BaselineSetting) -> Snapshot | None:
    """Return the baseline, or without one the run of ``--rag-against``, which the session is compared with.

    Return None if neither is set, or if the run replaces a missing or unreadable baseline.

    Raises:
        RagEvalError: a file cannot be read or has another format, or the baseline is missing and the run does not write
            it.
    """
    against = None if setting.against is None else read_against(setting.against)[0]
    if setting.path is None:
        return against
    if setting.update and not setting.path.exists():
        return None
    if not setting.path.exists():
        raise SettingError(
            f"there is no baseline {setting.path} yet; write it with --rag-update-baseline", code="RAG210"
        )
    from pytest_rageval.report.files.baseline_file import read_baseline, refuse_to_replace

    if setting.part or not setting.update:
        return read_baseline(setting.path)
    refuse_to_replace(setting.path)
    try:
        return read_baseline(setting.path)
    except RagEvalError:  # the run replaces the file, so it may be damaged
        return None


def read_against(path: Path) -> tuple[Snapshot, AnswerSource]:
    """Return the run of a results.json as a baseline, and its answers; no answers if it was stored without texts.

    Raises:
        SettingError: the file cannot be read, or is not a results.json.
    """
    stat = path.stat()
    return _read_against(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1)
def _read_against(path: Path, modified: int, size: int) -> tuple[Snapshot, AnswerSource]:
    """Read a results.json and cache the result; time and size detect a changed file."""
    from pytest_rageval.report.files.read_results import read_run
    from pytest_rageval.report.run.old_answers import AnswerSource, answers_of

    stored = read_run(path, gates=False)
    head, run = stored.results["run"], stored.run
    source = AnswerSource(path.name, answers_of(run.outcomes.values()) if run.texts else ())
    return replace(run.snapshot(), run=head["id"], versions=head["versions"], path=path.name), source


def refuse_baseline(gate: Gate, setting: BaselineSetting, where: str) -> None:
    """Raise `SettingError` if a gate needs a baseline and none is set."""
    if gate.baseline and setting.path is None and setting.against is None:
        how = "name it with --rag-baseline or as rag_baseline in the ini"
        raise SettingError(
            f"{where}: gate {short_repr(str(gate))} needs a baseline, and there is none; {how}", code="RAG113"
        )


def why_no_update(run: Run, setting: BaselineSetting) -> str:
    """Return why a run cannot become the baseline, or ""."""
    errors = sum(outcome.status == "error" for outcome in run.outcomes.values())
    skipped = sum(outcome.status == "skipped" for outcome in run.outcomes.values())
    missing = run.unfinished().total()
    if run.changed_code:
        return f"{', '.join(run.changed_code)} changed since the run whose cases were taken over; run all cases again"
    if run.interrupted or missing:
        return "the session was interrupted" if run.interrupted else f"{missing} cases did not run"
    if errors or skipped:
        return f"{errors} cases ended in an error" if errors else f"{skipped} cases were skipped"
    if not run.outcomes:
        return "no case ran"
    if any(map(has_stale_score, run.outcomes.values())):
        return "cases taken over from another run have stale labels; run all cases again"
    if setting.part and (changed := _changed_passages(run)):
        passages = counted(changed, "judged passage")
        return f"{passages} changed, and labels of cases that did not run refer to them; run all tests"
    why = "" if setting.part else run.plan.part or _missing(run)
    return f"{why}; run all tests, or keep the rest with --rag-update-baseline-part" if why else ""


def next_baseline(run: Run, now: Snapshot, setting: BaselineSetting) -> Snapshot:
    """Return the new baseline: the run or, to update a part, the old baseline with the run's cases replaced."""
    old = run.baseline
    if not setting.part or old is None:
        return now
    unchanged = _unchanged(old, now)
    cases = sorted((*unchanged, *now.cases), key=lambda case: case.key)
    metrics, testbeds = {**old.metrics, **now.metrics}, {**old.testbeds, **now.testbeds}
    passages = now.passages
    if unchanged:  # a baseline of an older schema has no digests, so those of unchanged cases are unknown
        passages = None if old.passages is None else {**old.passages, **(now.passages or {})}
    return replace(now, metrics=metrics, testbeds=testbeds, cases=tuple(cases), passages=passages)


def next_answers(run: Run, baseline: Snapshot, old: Sequence[StoredAnswer]) -> list[StoredAnswer]:
    """Return the answers of the new baseline: those of the run, and the old ones of cases that did not run.

    Args:
        run: the run.
        baseline: the new baseline.
        old: the answers of the old baseline.
    """
    from pytest_rageval.report.run.old_answers import answers_of

    digests = {case.key: case.said for case in baseline.cases}
    new = answers_of(run.outcomes.values())
    new_keys = {each.key for each in new}
    answers = [*new, *(each for each in old if each.key not in new_keys)]
    return sorted((each for each in answers if each.said in digests.get(each.key, ())), key=lambda each: each.place)


def _unchanged(old: Snapshot, now: Snapshot) -> list[Measured]:
    """Return the cases of a baseline that the run did not measure."""
    new_keys = {case.key for case in now.cases}
    return [case for case in old.cases if case.key not in new_keys]


def _changed_passages(run: Run) -> int:
    """Count the judged passages whose text differs from the baseline; 0 if the update replaces all its cases."""
    old, now = run.baseline, run.snapshot()
    if old is None or not old.passages or not _unchanged(old, now):
        return 0
    return sum(old.passages.get(name, digest) != digest for name, digest in (now.passages or {}).items())


def _missing(run: Run) -> str:
    """Return a message about a testbed of the baseline that a run of some paths lacks, or ""."""
    if run.baseline is None or not run.plan.narrowed:
        return ""
    missing = sorted(set(run.baseline.testbeds) - set(run.plan.testbeds))
    return f"{missing[0]} did not run" if missing else ""
