"""Drop drafts whose question is in a prompt or in training data: ``[leakage]`` of a plan."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.errors import short_repr
from pytest_rageval.generation.checks.stage import drop_with_dialogue
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.leakage.overlap import QuestionIndex
from pytest_rageval.generation.leakage.settings import REASONS, leakage_settings
from pytest_rageval.generation.leakage.texts import texts_of
from pytest_rageval.generation.material import Material

__all__ = ["drop_leaks"]


def drop_leaks(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts; those whose question is in a file of ``[leakage]`` are dropped (see `QuestionIndex`).

    Only the first turn of a conversation is searched for; a conversation is dropped as a whole.
    """
    result = list(drafts)
    for key, files in leakage_settings(material.plan).files.items():
        questions = {str(at): each.question for at, each in enumerate(result) if _is_checked(each)}
        for at, overlap in QuestionIndex(questions).find(texts_of(files)).items():
            shared = f"{overlap.where}: {short_repr(overlap.shared)}"
            result[int(at)] = result[int(at)].dropped(REASONS[key], shared)
    return drop_with_dialogue(result)


def _is_checked(draft: Draft) -> bool:
    return draft.state != "dropped" and not draft.history
