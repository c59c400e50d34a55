"""Tables of a world, ``persons`` and ``publications``: rows for templates, with passages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.scholar.world import make_world
from pytest_rageval.generation.scholar.world_settings import world_settings
from pytest_rageval.generation.tables.table import Row, Table
from pytest_rageval.model.case import Passage

__all__ = ["tables_of_world"]

Record = Mapping[str, Any]

PERSON_SHOWN = (
    "person_id", "name", "organization", "interests", "num_citation", "num_pubs", "position", "education_experience",
)  # fmt: skip
WORK_SHOWN = ("pub_id", "title", "year", "venue", "abstract", "num_citation")
"""Columns whose values a passage quotes unchanged."""


def tables_of_world(plan: Plan, warnings: list[str]) -> Iterator[Table]:
    """Yield the tables of a plan's world, none without a world; the topic of a row is its field of research."""
    settings = world_settings(plan)
    if settings is None:
        return
    world = make_world(plan.seed, settings.persons, settings.publications)
    persons = _rows("persons", "person_id", "name", _person_text, zip(world.persons, world.fields, strict=True))
    works = _rows(
        "publications", "pub_id", "title", _publication_text, zip(world.publications, world.subjects, strict=True)
    )
    yield Table("persons", tuple(world.persons[0]), "person_id", persons, PERSON_SHOWN, "persons.jsonl")
    yield Table("publications", tuple(world.publications[0]), "pub_id", works, WORK_SHOWN, "publications.jsonl")


def _rows(
    table: str, key: str, title: str, text: Callable[[Record], str], records: Iterable[tuple[Record, str]]
) -> tuple[Row, ...]:
    """Return the rows of records with their topics."""
    rows = []
    for line, (record, topic) in enumerate(records, 1):
        row_id = f"{table}:{record[key]}"
        passage = Passage(row_id, text(record), title=record[title], page=row_id)
        rows.append(Row(row_id, record, passage, topic, f"{table}.jsonl:{line}"))
    return tuple(rows)


def _person_text(record: Record) -> str:
    """Return the text of a page about a person; publications have separate pages."""
    coauthor_names = [other["name"] for other in record["coauthors"]]
    coauthors = (
        f"Coauthors ({len(coauthor_names)}): {', '.join(coauthor_names)}." if coauthor_names else "Coauthors: none."
    )
    return (
        f"{record['bio']} Position: {record['position']}. Research interests: {', '.join(record['interests'])}. "
        f"Publications: {record['num_pubs']}. Citations: {record['num_citation']}. {coauthors} "
        f"Education: {record['education_experience']}. Person id: {record['person_id']}."
    )


def _publication_text(record: Record) -> str:
    authors = ", ".join(author["name"] for author in record["authors"])
    return (
        f"{record['title']}. {authors}. {record['venue']}, {record['year']}. {record['abstract']} "
        f"Citations: {record['num_citation']}. Publication id: {record['pub_id']}."
    )
