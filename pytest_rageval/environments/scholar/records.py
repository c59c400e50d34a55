"""Read persons and publications, and check that each referenced id has a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import DataError, short_repr

__all__ = ["Coauthor", "Person", "Publication", "Scholars", "read_scholars"]

PERSON_KEYS = (
    "person_id", "name", "organization", "interests", "num_citation", "num_pubs", "gender", "position", "bio",
    "education_experience", "email", "coauthors", "publications",
)  # fmt: skip
PUBLICATION_KEYS = ("pub_id", "title", "abstract", "authors", "num_citation", "year", "venue")


@dataclass(frozen=True, slots=True)
class Coauthor:
    """Another person, and the relation to this one, such as ``colleague``; None if the record does not say."""

    person_id: str
    relation: object


@dataclass(frozen=True, slots=True)
class Person:
    """One line of the persons.

    Attributes:
        where: ``file:line``.
        id: the id.
        name: the name.
        interests: research interests, in the order of the record.
        citations: number of citations; 0 if the record does not say.
        coauthors: the coauthors, in the order of the record.
        publications: ids of publications, in the order of the record.
        values: all keys of the record.
        more: the keys that have no meaning here, with their values.
    """

    where: str
    id: str
    name: str
    interests: tuple[str, ...]
    citations: int
    coauthors: tuple[Coauthor, ...]
    publications: tuple[str, ...]
    values: Mapping[str, Any]
    more: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Publication:
    """One line of the publications.

    Attributes:
        where: ``file:line``.
        id: the id.
        title: the title.
        citations: number of citations; 0 if the record does not say.
        authors: names of the authors, in the order of the record.
        persons: ids of the authors that have a record in the persons file.
        values: all keys of the record.
        more: the keys that have no meaning here, with their values.
    """

    where: str
    id: str
    title: str
    citations: int
    authors: tuple[str, ...]
    persons: tuple[str, ...]
    values: Mapping[str, Any]
    more: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scholars:
    """All persons and publications by id, those with more citations first, then by id."""

    persons: Mapping[str, Person]
    publications: Mapping[str, Publication]


def read_scholars(persons: Path, publications: Path) -> Scholars:
    """Return the records of two files in JSON Lines.

    Raises:
        DataError: a file cannot be read, a field is missing or has a wrong value, an id is duplicate, or a referenced
            id has no record; with ``file:line``.
    """
    people = {each.id: each for each in _read_persons(persons)}
    works = {each.id: each for each in _read_publications(publications)}
    for person in people.values():
        _check(person.where, "publications", person.publications, works, publications)
        _check(person.where, "coauthors", (each.person_id for each in person.coauthors), people, persons)
    for work in works.values():
        _check(work.where, "authors", work.persons, people, persons)
    return Scholars(
        {each.id: each for each in sorted(people.values(), key=lambda each: (-each.citations, each.id))},
        {each.id: each for each in sorted(works.values(), key=lambda each: (-each.citations, each.id))},
    )


def _read_persons(path: Path) -> Iterable[Person]:
    name, seen = shown_path(path), dict[object, int]()
    for line, values in read_records(path):
        fields = Fields(f"{name}:{line}", values).without_nulls()
        person_id = fields.identifier("person_id")
        claim(seen, person_id, f"the person_id {short_repr(person_id)}", name, line)
        yield Person(
            where=fields.where,
            id=person_id,
            name=fields.text("name"),
            interests=_texts(fields, "interests"),
            citations=fields.count("num_citation") or 0,
            coauthors=tuple(
                Coauthor(each.identifier("person_id"), each.values.get("relation"))
                for each in fields.objects("coauthors", "a list of objects with a person_id")
            ),
            publications=_ids(fields, "publications"),
            values={**values, "person_id": person_id},
            more={key: value for key, value in values.items() if key not in PERSON_KEYS},
        )


def _read_publications(path: Path) -> Iterable[Publication]:
    name, seen = shown_path(path), dict[object, int]()
    for line, values in read_records(path):
        fields = Fields(f"{name}:{line}", values).without_nulls()
        pub_id = fields.identifier("pub_id")
        claim(seen, pub_id, f"the pub_id {short_repr(pub_id)}", name, line)
        authors = [each.without_nulls() for each in fields.objects("authors", "a list of objects with a name")]
        yield Publication(
            where=fields.where,
            id=pub_id,
            title=fields.text("title"),
            citations=fields.count("num_citation") or 0,
            authors=tuple(author.text("name") for author in authors),
            persons=tuple(author.identifier("person_id") for author in authors if "person_id" in author),
            values={**values, "pub_id": pub_id},
            more={key: value for key, value in values.items() if key not in PUBLICATION_KEYS},
        )


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    items = fields.items(name, "a list of strings")
    for index, item in enumerate(items):
        if not isinstance(item, str) or not item.strip():
            raise fields.wrong(f"{name}[{index}]", item, "a string that is not empty")
    return tuple(str(item) for item in items)


def _ids(fields: Fields, name: str) -> tuple[str, ...]:
    items = {f"{name}[{at}]": item for at, item in enumerate(fields.items(name, "a list of ids"))}
    return tuple(map(Fields(fields.where, items).identifier, items))


def _check(where: str, field: str, ids: Iterable[str], records: Mapping[str, object], path: Path) -> None:
    """Raise `DataError` for an id without a record."""
    for each in ids:
        if each not in records:
            problem = f"{field}: {shown_path(path)} has no record with the id {short_repr(each)}"
            raise DataError(where, f"{problem}; correct the id, or add the record")
