"""Read the ``[[world]]`` of a plan: an invented world whose records are tables of the plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_rageval.generation.plan import Plan, SectionReader
from pytest_rageval.generation.section import Section

__all__ = ["READER", "WorldSettings", "world_settings"]

KINDS = ("scholar",)
KEYS = ("kind", "persons", "publications")

PERSONS, PUBLICATIONS = 200, 600


@dataclass(frozen=True, slots=True)
class WorldSettings:
    """One ``[[world]]``.

    Attributes:
        section: the table of the plan, for messages.
        persons: number of persons, 1 or more.
        publications: number of publications, 1 or more.
    """

    section: Section
    persons: int
    publications: int


def world_settings(plan: Plan) -> WorldSettings | None:
    """Return the ``[[world]]`` of a plan; None if it has none."""
    return cast("WorldSettings | None", plan.settings["world"])


def _read(sections: tuple[Section, ...], folder: Path) -> WorldSettings | None:
    worlds = [_world(section) for section in sections]
    if len(worlds) > 1:
        problem = "[[world]] is duplicate; the tables of both would have the same names, so keep one"
        raise worlds[1].section.error("kind", problem)
    return worlds[0] if worlds else None


def _world(section: Section) -> WorldSettings:
    section.only(KEYS)
    section.choice("kind", "", KINDS) if "kind" in section else section.text("kind")
    persons = section.whole("persons", PERSONS, least=1)
    publications = section.whole("publications", PUBLICATIONS, least=1)
    return WorldSettings(section, persons or PERSONS, publications or PUBLICATIONS)


READER = SectionReader(many=True, read=_read)
