"""Take the decisions of people into the drafts of an earlier call, for `--finish`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.output.folder import DRAFTS, stored_usage
from pytest_rageval.generation.output.records import read_drafts
from pytest_rageval.registry import Registry

__all__ = ["DECIDERS", "Decider", "finished"]

Decider = Callable[[Material, Path, Sequence[Draft]], Sequence[Draft]]
"""Returns the drafts of a folder with what people decided."""

DECIDERS: dict[str, str] = {}
"""Name of a way to decide -> ``"module:function"``, in order."""


def finished(material: Material, out: Path) -> list[Draft]:
    """Return the drafts of a folder, with the decisions that its files hold.

    Raises:
        DataError: drafts.jsonl is missing, or a line of it is no draft.
    """
    if not (out / DRAFTS).exists():
        raise DataError(shown_path(out / DRAFTS), "is missing; run rageval generate without --finish first")
    deciders: Registry[Decider] = Registry("decider", DECIDERS)
    drafts = read_drafts(out / DRAFTS)
    material.usage = stored_usage(out)
    for name in DECIDERS:
        drafts = list(deciders.get(name)(material, out, drafts))
    return drafts
