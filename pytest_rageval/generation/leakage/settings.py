"""Read the ``[leakage]`` of a plan: files to search for questions, and a closed-book model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from pytest_rageval.errors import DataError
from pytest_rageval.generation.leakage.texts import files_of
from pytest_rageval.generation.plan import Plan, SectionReader
from pytest_rageval.generation.section import Section

__all__ = ["KNOWN", "READER", "REASONS", "LeakageSettings", "leakage_settings"]

REASONS = {"prompts": "prompt_leak", "against": "train_overlap"}
"""Key of ``[leakage]`` -> the reason to drop a draft whose question is in one of its files."""

KNOWN = "known"
"""The reason to drop a draft that the closed-book model answers without passages."""

KEYS = (*REASONS, "closed_book", "drop_known")


@dataclass(frozen=True, slots=True)
class LeakageSettings:
    """The ``[leakage]`` of a plan.

    Attributes:
        files: key of `REASONS` -> its files.
        closed_book: the model that answers drafts without passages; "" for none.
        drop_known: whether to drop drafts that it answers.
    """

    files: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    closed_book: str = ""
    drop_known: bool = False


def leakage_settings(plan: Plan) -> LeakageSettings:
    """Return the ``[leakage]`` of a plan."""
    return cast("LeakageSettings", plan.settings["leakage"])


def _read(sections: tuple[Section, ...], folder: Path) -> LeakageSettings:
    if not sections:
        return LeakageSettings()
    section = sections[0]
    section.only(KEYS)
    files = {key: _files(section, key, folder) for key in REASONS}
    closed_book = section.text("closed_book") if "closed_book" in section else ""
    drop_known = section.flag("drop_known")
    if drop_known and not closed_book:
        raise section.error("drop_known", "drop_known needs a model; add closed_book")
    return LeakageSettings(files, closed_book, drop_known)


def _files(section: Section, key: str, folder: Path) -> tuple[Path, ...]:
    try:
        return files_of(section.texts(key), folder)
    except DataError as error:
        raise section.error(key, f"{key}: {error}") from None


READER = SectionReader(many=False, read=_read)
