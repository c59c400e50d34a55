"""``--rag-baseline`` and what goes with it: what a run is compared with, and when it may become that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.analysis.baseline.multiplicity import alpha_of
from pytest_rageval.analysis.baseline.stale import has_stale_score
from pytest_rageval.errors import RagEvalError, SettingError, found
from pytest_rageval.report.text.lines import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_rageval.analysis.baseline.measured import Measured, Snapshot
    from pytest_rageval.analysis.baseline.regression import AlphaPer, Policy
    from pytest_rageval.analysis.gates import Gate
    from pytest_rageval.report.run.run import Run

__all__ = [
    "BASELINE",
    "BaselineAsked",
    "baseline_asked",
    "check_baseline",
    "next_baseline",
    "refuse_baseline",
    "why_no_update",
]

BASELINE = ("rag_baseline", "rag_alpha", "rag_alpha_per", "rag_inconclusive", "rag_min_compared")
"""The settings of the ini."""


@dataclass(frozen=True, slots=True)
class BaselineAsked:
    """What is wanted of a baseline.

    Attributes:
        path: the file; None where there is none.
        update: whether the run is written to it.
        part: whether a part of the project may be.
        alpha: how many false alarms are taken, as a share.
        inconclusive: what becomes of a drop that cannot be told from noise.
        min_compared: share of its cases in the baseline that a gate has to be compared with.
        alpha_per: what alpha holds for.
    """

    path: Path | None = None
    update: bool = False
    part: bool = False
    alpha: float = 0.05
    inconclusive: Policy = "warn"
    min_compared: float = 0.5
    alpha_per: AlphaPer = "session"


def baseline_asked(option: object, ini: Mapping[str, object], here: Path, beside: Path) -> BaselineAsked:
    """Return what the command line and the ini want of a baseline, checked for form."""
    given, standing = getattr(option, "rag_baseline", None), str(ini["rag_baseline"]).strip()
    path = here / given if given else beside / standing if standing else None
    whole, part = getattr(option, "rag_update_baseline", False), getattr(option, "rag_update_baseline_part", False)
    update = whole or part
    if whole and part:
        raise SettingError("--rag-update-baseline and --rag-update-baseline-part exclude each other; give one of them")
    if path is None and update:
        raise SettingError("there is no baseline to update; name one with --rag-baseline or as rag_baseline in the ini")
    if update and getattr(option, "rag_shard", None) is not None:
        raise SettingError("--rag-update-baseline wants a whole run, and --rag-shard a part of it; give one of them")
    if path is not None and path.is_dir():
        raise SettingError(f"the baseline {path} is a directory; name a file")
    from pytest_rageval.analysis.baseline.comparable import share_of
    from pytest_rageval.analysis.baseline.regression import ALPHA_PER, INCONCLUSIVE

    policy = str(ini["rag_inconclusive"]).strip()
    if policy not in INCONCLUSIVE:
        raise SettingError(f"rag_inconclusive is {found(policy)}; write pass, warn or fail")
    alpha = alpha_of(str(ini["rag_alpha"]), "rag_alpha")
    per = str(ini["rag_alpha_per"]).strip()
    if per not in ALPHA_PER:
        raise SettingError(f"rag_alpha_per is {found(per)}; write session or gate")
    min_compared = share_of(str(ini["rag_min_compared"]), "rag_min_compared")
    return BaselineAsked(path, update, part, alpha, policy, min_compared, per)


def check_baseline(asked: BaselineAsked) -> Snapshot | None:
    """Return the baseline; None without one, or if one that is written anew cannot be read.

    Refuse one that cannot be read, is something else, or is missing and not about to be written.
    """
    if asked.path is None or (asked.update and not asked.path.exists()):
        return None
    if not asked.path.exists():
        raise SettingError(f"there is no baseline {asked.path} yet; write it with --rag-update-baseline")
    from pytest_rageval.report.files.baseline_file import read_baseline, refuse_to_replace

    if asked.part or not asked.update:
        return read_baseline(asked.path)
    refuse_to_replace(asked.path)
    try:
        return read_baseline(asked.path)
    except RagEvalError:  # what is written anew may be broken
        return None


def refuse_baseline(gate: Gate, asked: BaselineAsked, where: str) -> None:
    """Refuse a gate that needs a baseline where none is named."""
    if gate.baseline and asked.path is None:
        how = "name it with --rag-baseline or as rag_baseline in the ini"
        raise SettingError(f"{where}: gate {found(str(gate))} needs a baseline, and there is none; {how}")


def why_no_update(run: Run, asked: BaselineAsked) -> str:
    """Return why a run cannot become the baseline, or ""."""
    errors = sum(outcome.status == "error" for outcome in run.outcomes.values())
    skipped = sum(outcome.status == "skipped" for outcome in run.outcomes.values())
    missing = run.unfinished().total()
    if run.mixed:
        return f"{', '.join(run.mixed)} changed since the run whose cases were taken over; run all anew"
    if run.interrupted or missing:
        return "the session was interrupted" if run.interrupted else f"{missing} cases did not run"
    if errors or skipped:
        return f"{errors} cases ended in an error" if errors else f"{skipped} cases were skipped"
    if not run.outcomes:
        return "no case ran"
    if any(map(has_stale_score, run.outcomes.values())):
        return "cases taken over from another run have stale labels; run all anew"
    if asked.part and (changed := _changed_passages(run)):
        return f"{counted(changed, 'judged passage')} changed, and the cases to keep were judged by them; run all tests"
    why = "" if asked.part else run.plan.part or _missing(run)
    return f"{why}; run all tests, or keep the rest with --rag-update-baseline-part" if why else ""


def next_baseline(run: Run, now: Snapshot, asked: BaselineAsked) -> Snapshot:
    """Return what the baseline is to be: the run or, where it is but a part, what it measured in the place of that."""
    old = run.baseline
    if not asked.part or old is None:
        return now
    kept = _kept(old, now)
    cases = sorted((*kept, *now.cases), key=lambda case: case.key)
    metrics, testbeds = {**old.metrics, **now.metrics}, {**old.testbeds, **now.testbeds}
    passages = now.passages
    if kept:  # without digests of theirs, cases of an older schema stay unknown
        passages = None if old.passages is None else {**old.passages, **(now.passages or {})}
    return replace(now, metrics=metrics, testbeds=testbeds, cases=tuple(cases), passages=passages)


def _kept(old: Snapshot, now: Snapshot) -> list[Measured]:
    """Return the cases of a baseline that a run of a part leaves as they are."""
    fresh = {case.key for case in now.cases}
    return [case for case in old.cases if case.key not in fresh]


def _changed_passages(run: Run) -> int:
    """Return how many judged passages have other text than in a baseline of which some cases stay."""
    old, now = run.baseline, run.snapshot()
    if old is None or not old.passages or not _kept(old, now):
        return 0
    return sum(old.passages.get(name, digest) != digest for name, digest in (now.passages or {}).items())


def _missing(run: Run) -> str:
    """Return which testbeds of the baseline a run for which paths were given does not have, or ""."""
    if run.baseline is None or not run.plan.narrowed:
        return ""
    missing = sorted(set(run.baseline.testbeds) - set(run.plan.testbeds))
    return f"{missing[0]} did not run" if missing else ""
