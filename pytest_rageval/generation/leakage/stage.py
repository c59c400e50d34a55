"""The ``[leakage]`` of a plan: drop drafts whose question is in a prompt or in training data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.generation.checks.stage import drop_with_dialogue
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.leakage.overlap import QuestionIndex
from pytest_rageval.generation.leakage.texts import files_of, texts_of
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.plan import Part
from pytest_rageval.generation.section import Section

__all__ = ["PART", "drop_leaks"]

REASONS = {"prompts": "prompt_leak", "against": "train_overlap"}
"""Key of ``[leakage]`` -> the reason of a draft whose question one of its files holds."""


def drop_leaks(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts; one whose question is in a file of ``[leakage]`` is dropped (`QuestionIndex`).

    Later turns of a conversation are not looked for; a conversation is dropped as a whole.
    """
    result = list(drafts)
    for key, files in cast("Mapping[str, tuple[Path, ...]]", material.plan.parts["leakage"]).items():
        waiting = {str(at): each.question for at, each in enumerate(result) if _is_checked(each)}
        for at, overlap in QuestionIndex(waiting).find(texts_of(files)).items():
            shared = f"{overlap.where}: {short_repr(overlap.shared)}"
            result[int(at)] = result[int(at)].dropped(REASONS[key], shared)
    return drop_with_dialogue(result)


def _is_checked(draft: Draft) -> bool:
    return draft.state != "dropped" and not draft.history


def _read(sections: tuple[Section, ...], folder: Path) -> dict[str, tuple[Path, ...]]:
    for section in sections:
        section.only(tuple(REASONS))
    return {key: _files(section, key, folder) for section in sections for key in REASONS}


def _files(section: Section, key: str, folder: Path) -> tuple[Path, ...]:
    try:
        return files_of(section.texts(key), folder)
    except DataError as error:
        raise section.error(key, f"{key}: {error}") from None


PART = Part(many=False, read=_read)
