"""Check the drafts of a plan: each draft alone, then duplicates among those that passed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_rageval.errors import short_repr
from pytest_rageval.generation.checks.single import run_checks
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.metrics.shared.similar_questions import QuestionKey, all_near_pairs, question_key

__all__ = ["DIALOGUE_DROPPED", "check_all", "drop_duplicates", "drop_with_dialogue"]

DUPLICATE, NEAR_DUPLICATE, DIALOGUE_DROPPED = "duplicate", "near_duplicate", "dialogue_dropped"


def check_all(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with the results of the checks; drafts that are already dropped stay unchanged."""
    results = [run_checks(draft) if draft.state == "waiting" else draft for draft in drafts]
    return drop_with_dialogue(drop_duplicates(drop_with_dialogue(results)))


def drop_duplicates(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts; drop each one that repeats the question of an earlier draft.

    The rules are those of `rageval lint`. Later turns of conversations are not checked for near duplicates.
    """
    first: dict[QuestionKey, int] = {}
    result = list(drafts)
    for at, draft in enumerate(drafts):
        if draft.state == "dropped":
            continue
        other = first.setdefault(question_key(draft.question, draft.history), at)
        result[at] = _with_check(draft, DUPLICATE) if other == at else draft.dropped(DUPLICATE, _detail(drafts[other]))
    indexes = [at for at, draft in enumerate(result) if draft.state != "dropped" and not draft.history]
    keys = [question_key(result[at].question)[-1] for at in indexes]
    for later, earlier in all_near_pairs(keys):
        result[indexes[later]] = result[indexes[later]].dropped(NEAR_DUPLICATE, _detail(result[indexes[earlier]]))
    return [_with_check(draft, NEAR_DUPLICATE) if draft.state != "dropped" else draft for draft in result]


def drop_with_dialogue(drafts: Iterable[Draft]) -> list[Draft]:
    """Return the drafts; a conversation with a dropped turn is dropped as a whole."""
    drafts = list(drafts)
    dropped_turns = {
        draft.facets["dialogue"]: draft for draft in drafts if draft.state == "dropped" and "dialogue" in draft.facets
    }
    results = []
    for draft in drafts:
        turn = dropped_turns.get(draft.facets.get("dialogue", ""))
        if draft.state != "dropped" and turn is not None:
            detail = f"{turn.reason} in round {turn.facets.get('round', '?')}"
            results.append(draft.dropped(DIALOGUE_DROPPED, detail))
        else:
            results.append(draft)
    return results


def _with_check(draft: Draft, check: str) -> Draft:
    """Add a check to those that a draft passed."""
    return draft if check in draft.checks else replace(draft, checks=(*draft.checks, check))


def _detail(other: Draft) -> str:
    return f"the question of {other.id}: {short_repr(other.question)}"
