"""Take the decisions of people into the drafts of an earlier call, for `--finish`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.output.folder import DRAFTS, stored_usage
from pytest_rageval.generation.output.records import read_drafts
from pytest_rageval.generation.quotas import shortages_of
from pytest_rageval.generation.review.applying import GRADE, before_review, decided, in_force
from pytest_rageval.generation.review.decisions_file import DECISIONS, Decisions, read_decisions
from pytest_rageval.generation.split import Sets, split, split_settings

__all__ = ["finished"]


def finished(material: Material, out: Path) -> tuple[list[Draft], Sets]:
    """Return the drafts of a folder and their sets, with the decisions that its files hold.

    The sets are those of the drafts as they were generated. From them, dropped and waiting cases leave, and corrected
    ones take the place of what they correct. As soon as people have decided anything, ``human_test`` holds only cases
    that they graded.

    Raises:
        DataError: drafts.jsonl is missing, or a line of it or of decisions.jsonl is malformed.
    """
    if not (out / DRAFTS).exists():
        raise DataError(shown_path(out / DRAFTS), "is missing; run rageval generate without --finish first")
    generated = before_review(read_drafts(out / DRAFTS))
    decisions = read_decisions(out / DECISIONS)
    material.usage = stored_usage(out)
    drafts = decided(generated, decisions)
    sets = split(generated, split_settings(material.plan), material.plan.seed, material.warnings)
    after = {before.id: draft for before, draft in zip(generated, drafts, strict=True) if before.state == "kept"}
    test, train, people = (_kept(each, after) for each in (sets.auto_test, sets.auto_train, sets.human_test))
    if any(GRADE in draft.verdicts for draft in drafts):
        graded = _graded(people)
        _warn_of_ungraded(material, len(people) - len(graded))
        people = graded
    _warn_of_others(material, generated, decisions)
    material.shortages += shortages_of(material, drafts)
    return drafts, Sets(test, train, people, sets.known)


def _kept(drafts: Sequence[Draft], after: Mapping[str, Draft]) -> tuple[Draft, ...]:
    return tuple(after[draft.id] for draft in drafts if after[draft.id].state == "kept")


def _graded(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Return the drafts with a grade; of a conversation all turns must have one."""
    without = {draft.facets.get("dialogue") or draft.id for draft in drafts if GRADE not in draft.verdicts}
    return tuple(draft for draft in drafts if (draft.facets.get("dialogue") or draft.id) not in without)


def _warn_of_ungraded(material: Material, n: int) -> None:
    if n:
        cases = "1 case of the sample has" if n == 1 else f"{n:,} cases of the sample have"
        material.warnings.append(f"{cases} no grade yet; human_test.jsonl leaves them out")


def _warn_of_others(material: Material, drafts: Sequence[Draft], decisions: Decisions) -> None:
    """Warn of decisions about drafts that changed since, or no longer exist."""
    kept = {draft.id: draft for draft in drafts if draft.state == "kept"}
    old = sum(name not in kept or not in_force(kept[name], decisions) for name in decisions.standing)
    if old:
        what = "1 case has" if old == 1 else f"{old:,} cases have"
        material.warnings.append(f"{what} changed since people decided; rageval review asks again")
