"""Run all checks over the drafts of a plan: each draft by itself, then duplicates over all that passed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_rageval.errors import short_repr
from pytest_rageval.generation.checks.single import checked
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.metrics.shared.similar_questions import QuestionKey, all_near_pairs, question_key

__all__ = ["DIALOGUE_DROPPED", "check_all", "drop_duplicates", "drop_with_dialogue"]

DUPLICATE, NEAR_DUPLICATE, DIALOGUE_DROPPED = "duplicate", "near_duplicate", "dialogue_dropped"


def check_all(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with what the checks found; those that already are dropped stay as they are."""
    passed = [checked(draft) if draft.state == "waiting" else draft for draft in drafts]
    return drop_with_dialogue(drop_duplicates(drop_with_dialogue(passed)))


def drop_duplicates(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts; those that wait or are kept, and ask what an earlier one asks, are dropped.

    The rules are those of `rageval lint`; later turns of conversations have no near duplicates.
    """
    first: dict[QuestionKey, int] = {}
    result = list(drafts)
    for at, draft in enumerate(drafts):
        if draft.state == "dropped":
            continue
        other = first.setdefault(question_key(draft.question, draft.history), at)
        result[at] = _passed(draft, DUPLICATE) if other == at else draft.dropped(DUPLICATE, _same(drafts[other]))
    places = [at for at, draft in enumerate(result) if draft.state != "dropped" and not draft.history]
    keys = [question_key(result[at].question)[-1] for at in places]
    for number, near in all_near_pairs(keys):
        result[places[number]] = result[places[number]].dropped(NEAR_DUPLICATE, _same(result[places[near]]))
    return [_passed(draft, NEAR_DUPLICATE) if draft.state != "dropped" else draft for draft in result]


def drop_with_dialogue(drafts: Iterable[Draft]) -> list[Draft]:
    """Return the drafts; a conversation with a dropped turn is dropped as a whole."""
    drafts = list(drafts)
    broken = {
        draft.facets["dialogue"]: draft for draft in drafts if draft.state == "dropped" and "dialogue" in draft.facets
    }
    return [
        draft.dropped(DIALOGUE_DROPPED, f"{broken[name].reason} in round {broken[name].facets.get('round', '?')}")
        if draft.state != "dropped" and (name := draft.facets.get("dialogue", "")) in broken
        else draft
        for draft in drafts
    ]


def _passed(draft: Draft, check: str) -> Draft:
    return draft if check in draft.checks else replace(draft, checks=(*draft.checks, check))


def _same(other: Draft) -> str:
    return f"the question of {other.id}: {short_repr(other.question)}"
