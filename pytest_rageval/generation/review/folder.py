"""Open a folder for review: its drafts as generated, and the sample for people."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import SettingError, did_you_mean, short_repr
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.output.folder import DRAFTS, stored_split
from pytest_rageval.generation.output.records import read_drafts
from pytest_rageval.generation.review.apply_decisions import without_decisions
from pytest_rageval.generation.split import split

__all__ = ["Cell", "ReviewFolder", "open_folder", "parse_cell", "second_readings"]


@dataclass(frozen=True, slots=True)
class Cell:
    """The topic and task of the cases to review; "" means any.

    Attributes:
        topic: the path of a topic, or its last name.
        task: a task.
    """

    topic: str = ""
    task: str = ""

    def holds(self, draft: Draft) -> bool:
        """Return whether a draft belongs to the cell."""
        return self.topic in ("", draft.topic, draft.topic.rpartition("/")[2]) and self.task in ("", draft.task)


@dataclass(frozen=True, slots=True)
class ReviewFolder:
    """An output folder of `rageval generate`, opened for review.

    Attributes:
        path: the folder.
        seed: the seed of its plan.
        drafts: all drafts as they were generated, without people's decisions.
        sample: the drafts for people, from ``human_test``, by cell, with the turns of conversations in order.
    """

    path: Path
    seed: int
    drafts: tuple[Draft, ...]
    sample: tuple[Draft, ...]


def open_folder(path: Path, cell: Cell | None = None) -> ReviewFolder:
    """Open a folder for review.

    Args:
        path: the folder.
        cell: the part of the sample to review; None for the whole sample.

    Raises:
        SettingError: the folder has no drafts, drafts of another version, or no case to review.
        DataError: one of its files is malformed.
    """
    cell, folder_name = cell or Cell(), shown_path(path)
    if not (path / DRAFTS).is_file():
        problem = f"{folder_name} holds no {DRAFTS}; name the folder that rageval generate PLAN.toml --out FOLDER wrote"
        raise SettingError(problem)
    settings, seed = stored_split(path)
    drafts = without_decisions(read_drafts(path / DRAFTS))
    sample = split(drafts, settings, seed, []).human_test
    if not sample:
        problem = f"the sample of {folder_name} for people is empty"
        raise SettingError(f"{problem}; auto_test has no case, or human_per_cell is 0 in [split] of the plan")
    drafts_of_cell = [draft for draft in sample if cell.holds(draft)]
    if not drafts_of_cell:
        raise SettingError(f"--cell: no case of the sample is in it; {_nearest(cell, sample)}")
    return ReviewFolder(path, seed, tuple(drafts), tuple(sorted(drafts_of_cell, key=_place)))


def parse_cell(text: str | None) -> Cell:
    """Parse ``topic=NAME,task=NAME``; either may be left out.

    Raises:
        SettingError: the text is malformed.
    """
    values: dict[str, str] = {}
    last = ""
    for part in (text or "").split(",") if text is not None else ():
        key, mark, value = part.partition("=")
        if mark and key.strip() in ("topic", "task") and key.strip() not in values:
            last = key.strip()
            values[last] = value.strip()
        elif last == "topic":  # a comma in its name
            values[last] += f",{part}"
        else:
            raise SettingError(f"--cell {short_repr(text)}: wanted topic=NAME,task=NAME, or one of them")
    return Cell(values.get("topic", ""), values.get("task", ""))


def second_readings(folder: ReviewFolder, share: float) -> frozenset[str]:
    """Return the ids of the drafts for two people: a share (0..1) of the sample, chosen by the seed."""
    ranked = sorted((draft.id for draft in folder.sample), key=lambda name: _rank(folder.seed, name))
    return frozenset(ranked[: math.ceil(round(share * len(ranked), 9))])


def _place(draft: Draft) -> tuple[str, str, str, int, str]:
    number = draft.facets.get("round", "0")
    dialogue = draft.facets.get("dialogue", "")
    return draft.topic, draft.task, dialogue or draft.id, int(number) if number.isdecimal() else 0, draft.id


def _nearest(cell: Cell, sample: Sequence[Draft]) -> str:
    """Return a message about the unknown name of a cell, with a similar name."""
    known_names: Mapping[str, Iterable[str]] = {
        "topic": {draft.topic for draft in sample},
        "task": {draft.task for draft in sample if Cell(topic=cell.topic).holds(draft)},
    }
    for key, names in known_names.items():
        name = getattr(cell, key)
        if name and not any(Cell(**{key: name}).holds(draft) for draft in sample):
            return f"unknown {key} {short_repr(name)}; {did_you_mean(name, filter(None, names))}"
    return f"the topic has no case of the task; {did_you_mean(cell.task, known_names['task'])}"


def _rank(seed: int, name: str) -> str:
    return hashlib.sha256(json.dumps([seed, "second", name]).encode()).hexdigest()
