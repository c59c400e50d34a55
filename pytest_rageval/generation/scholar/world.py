"""Build the records of an invented world, with consistent persons and publications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.generation.scholar.people import Scholar, scholar
from pytest_rageval.generation.scholar.works import Work, works

__all__ = ["World", "make_world"]

Record = Mapping[str, Any]

SUPERVISED = ("Ph.D", "Assistant Researcher")


@dataclass(frozen=True, slots=True)
class World:
    """The records of a world, in the format of the environment ``scholar``.

    Attributes:
        persons: the persons, by number.
        fields: the field of each person.
        publications: the publications, by number.
        subjects: the field of each publication.
    """

    persons: tuple[Record, ...]
    fields: tuple[str, ...]
    publications: tuple[Record, ...]
    subjects: tuple[str, ...]


def make_world(seed: int, persons: int, publications: int) -> World:
    """Return the world of a seed (0 or more), with 1 or more persons and publications.

    Coauthors share a publication and name each other; a person's citations are the sum over the publications. One more
    person changes no other person; see `works.works`.
    """
    people = [scholar(seed, number) for number in range(persons)]
    all_works = list(works(seed, persons, publications))
    works_of_person: list[list[Work]] = [[] for _ in people]
    for work in all_works:
        for author in work.authors:
            if author.number < persons:
                works_of_person[author.number].append(work)
    return World(
        persons=tuple(_person(each, works_of_person[each.number], persons) for each in people),
        fields=tuple(each.field for each in people),
        publications=tuple(_publication(each, persons) for each in all_works),
        subjects=tuple(each.field for each in all_works),
    )


def _person(person: Scholar, person_works: Sequence[Work], persons: int) -> Record:
    coauthors = {author.number: author for work in person_works for author in work.authors if author.number < persons}
    coauthors.pop(person.number, None)
    return {
        "person_id": person.id,
        "name": person.name,
        "organization": person.organization,
        "interests": list(person.interests),
        "num_citation": sum(work.citations for work in person_works),
        "num_pubs": len(person_works),
        "gender": person.gender,
        "position": person.position,
        "bio": person.bio,
        "education_experience": person.education,
        "email": person.email,
        "coauthors": [
            {"person_id": other.id, "name": other.name, "relation": _relation(person, other)}
            for other in coauthors.values()
        ],
        "publications": [work.id for work in person_works],
    }


def _relation(person: Scholar, other: Scholar) -> str:
    """Return the relation of ``other`` to a person; the reverse relation is consistent with it."""
    if person.organization != other.organization:
        return "collaborator"
    if person.position in SUPERVISED and other.position == "Professor":
        return "advisor"
    return "student" if person.position == "Professor" and other.position in SUPERVISED else "colleague"


def _publication(work: Work, persons: int) -> Record:
    return {
        "pub_id": work.id,
        "title": work.title,
        "year": work.year,
        "venue": work.venue,
        "abstract": work.abstract,
        "authors": [*(_author(each, persons) for each in work.authors), *({"name": name} for name in work.others)],
        "num_citation": work.citations,
    }


def _author(author: Scholar, persons: int) -> Record:
    return {"person_id": author.id, "name": author.name} if author.number < persons else {"name": author.name}
