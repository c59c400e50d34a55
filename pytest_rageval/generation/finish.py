"""Apply the decisions of people to the drafts of an earlier call, for `--finish`."""

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
from pytest_rageval.generation.review.apply_decisions import GRADE, apply_decisions, valid_decisions, without_decisions
from pytest_rageval.generation.review.decisions_file import DECISIONS, Decisions, read_decisions
from pytest_rageval.generation.split import Sets, split, split_settings

__all__ = ["finish_drafts"]


def finish_drafts(material: Material, out: Path) -> tuple[list[Draft], Sets]:
    """Return the drafts of a folder and their sets, after the decisions in its files.

    The split is that of the generated drafts. Then dropped and waiting cases are removed, and corrections replace the
    original cases. As soon as one case has a grade, ``human_test`` has only graded cases.

    Raises:
        DataError: drafts.jsonl is missing, or a line of it or of decisions.jsonl is malformed.
    """
    if not (out / DRAFTS).exists():
        raise DataError(shown_path(out / DRAFTS), "is missing; run rageval generate without --finish first")
    generated = without_decisions(read_drafts(out / DRAFTS))
    decisions = read_decisions(out / DECISIONS)
    material.usage = stored_usage(out)
    drafts = apply_decisions(generated, decisions)
    sets = split(generated, split_settings(material.plan), material.plan.seed, material.warnings)
    reviewed = {before.id: draft for before, draft in zip(generated, drafts, strict=True) if before.state == "kept"}
    test, train, human_test = (
        _kept_drafts(each, reviewed) for each in (sets.auto_test, sets.auto_train, sets.human_test)
    )
    if any(GRADE in draft.verdicts for draft in drafts):
        graded = _graded_drafts(human_test)
        _warn_of_ungraded(material, len(human_test) - len(graded))
        human_test = graded
    _warn_of_outdated(material, generated, decisions)
    material.shortages += shortages_of(material, drafts)
    return drafts, Sets(test, train, human_test, sets.known)


def _kept_drafts(drafts: Sequence[Draft], reviewed: Mapping[str, Draft]) -> tuple[Draft, ...]:
    return tuple(reviewed[draft.id] for draft in drafts if reviewed[draft.id].state == "kept")


def _graded_drafts(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Return the drafts with a grade; a conversation counts only if all its turns have a grade."""
    ungraded = {draft.facets.get("dialogue") or draft.id for draft in drafts if GRADE not in draft.verdicts}
    return tuple(draft for draft in drafts if (draft.facets.get("dialogue") or draft.id) not in ungraded)


def _warn_of_ungraded(material: Material, n: int) -> None:
    if n:
        cases = "1 case of the sample has" if n == 1 else f"{n:,} cases of the sample have"
        material.warnings.append(f"{cases} no grade yet; human_test.jsonl leaves them out")


def _warn_of_outdated(material: Material, drafts: Sequence[Draft], decisions: Decisions) -> None:
    """Warn of decisions about drafts that have changed since or no longer exist."""
    kept_by_id = {draft.id: draft for draft in drafts if draft.state == "kept"}
    n_outdated = sum(
        name not in kept_by_id or not valid_decisions(kept_by_id[name], decisions) for name in decisions.standing
    )
    if n_outdated:
        cases = "1 case has" if n_outdated == 1 else f"{n_outdated:,} cases have"
        material.warnings.append(f"{cases} changed since people decided; rageval review asks again")
