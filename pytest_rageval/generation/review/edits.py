"""Apply a person's correction to a draft, check it, and show its changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import takewhile

from pytest_rageval.generation.checks.single import first_failure
from pytest_rageval.generation.checks.stage import drop_duplicates
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.review.decision import Edit
from pytest_rageval.generation.review.presentation import TextPiece
from pytest_rageval.model.case import Gold, Turn

__all__ = ["apply_edits", "changed_words", "edit_of", "fault_of_edit"]

_PIECES = re.compile(r"[A-Za-z0-9]+|\s+|.", re.DOTALL)
_MAX_DIFF_LENGTH = 8_000
_JOINTS = ("; ", ", ")
"""Separators of the slots of an earlier answer in the history; generators use different ones."""


def edit_of(draft: Draft) -> Edit:
    """Return the edit that leaves a draft unchanged."""
    return Edit(draft.question, draft.gold, draft.evidence)


def apply_edits(drafts: Iterable[Draft], edits: Mapping[str, Edit]) -> list[Draft]:
    """Return drafts with the edits of their ids, also in the history of later turns of a conversation."""
    drafts = list(drafts)
    turns: dict[tuple[str, int], Turn] = {}
    for draft in drafts:
        if draft.id in edits and draft.facets.get("dialogue"):
            turns[draft.facets["dialogue"], len(draft.history)] = _turn(draft, edits[draft.id], drafts)
    result = []
    for draft in drafts:
        dialogue = draft.facets.get("dialogue", "")
        history = tuple(turns.get((dialogue, at), turn) for at, turn in enumerate(draft.history))
        edit = edits.get(draft.id, edit_of(draft))
        result.append(replace(draft, question=edit.question, gold=edit.gold, evidence=edit.evidence, history=history))
    return result


def fault_of_edit(draft: Draft, edit: Edit, drafts: Sequence[Draft]) -> str:
    """Return the check that a corrected case fails, ``reason: problem``; "" if it passes all.

    Later turns of its conversation are also checked, and duplicates among all kept drafts.

    Args:
        draft: the draft.
        edit: its correction.
        drafts: all drafts, with the corrections of other drafts.
    """
    if edit == edit_of(draft):
        return "no_change: the case is what it was"
    kept_drafts = [each for each in drafts if each.state == "kept"]
    edited_drafts = apply_edits(kept_drafts, {draft.id: edit})
    for before, after in zip(kept_drafts, edited_drafts, strict=True):
        failure = first_failure(after) if before != after else None
        if failure is not None:
            turn = f" (round {after.facets.get('round', '?')} of the conversation)" if before.id != draft.id else ""
            return f"{failure[0]}: {failure[1]}{turn}"
    corrected = [after for before, after in zip(kept_drafts, edited_drafts, strict=True) if before.id == draft.id]
    others = [after for before, after in zip(kept_drafts, edited_drafts, strict=True) if before.id != draft.id]
    last = drop_duplicates([*others, *corrected])[-1]
    return f"{last.reason}: {last.verdicts[last.reason]}" if corrected and last.state == "dropped" else ""


def changed_words(before: str, after: str) -> list[TextPiece]:
    """Return the difference of two texts as pieces of the kinds ``""``, ``removed`` and ``added``.

    If more than 8,000 words and spaces lie between the first and the last change, they are one change.
    """
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    start = _same_words(old, new)
    end = _same_words(old[start:][::-1], new[start:][::-1])
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    pieces: list[TextPiece] = [("".join(old[:start]), "")]
    if len(old_middle) + len(new_middle) > _MAX_DIFF_LENGTH:
        pieces += [("".join(old_middle), "removed"), ("".join(new_middle), "added")]
    else:
        for kind, at, to, new_at, new_to in SequenceMatcher(None, old_middle, new_middle, autojunk=False).get_opcodes():
            if kind == "equal":
                pieces.append(("".join(old_middle[at:to]), ""))
                continue
            pieces += [("".join(old_middle[at:to]), "removed"), ("".join(new_middle[new_at:new_to]), "added")]
    return [piece for piece in [*pieces, ("".join(old[len(old) - end :]), "")] if piece[0]]


def _same_words(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many words two texts have in common at their start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _turn(draft: Draft, edit: Edit, drafts: Iterable[Draft]) -> Turn:
    """Return a corrected turn for the history of later turns."""
    answer = _answer_in_history(draft, drafts)
    if edit.gold == draft.gold and answer is not None:
        return Turn(edit.question, answer)
    joint = next((each for each in _JOINTS if _join(draft.gold, each) == answer), _JOINTS[-1])
    return Turn(edit.question, _join(edit.gold, joint))


def _answer_in_history(draft: Draft, drafts: Iterable[Draft]) -> str | None:
    dialogue, at = draft.facets.get("dialogue"), len(draft.history)
    later = (each for each in drafts if each.facets.get("dialogue") == dialogue and len(each.history) > at)
    return next((each.history[at].answer for each in later), None)


def _join(gold: Gold, joint: str) -> str:
    return joint.join(slot[0] for slot in gold)
