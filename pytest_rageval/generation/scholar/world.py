"""A world of persons and publications as records, with relations that agree."""

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
    """The records in the form that the environment ``scholar`` reads.

    Attributes:
        persons: by number.
        fields: the field of each person.
        publications: by number.
        subjects: the field of each publication.
    """

    persons: tuple[Record, ...]
    fields: tuple[str, ...]
    publications: tuple[Record, ...]
    subjects: tuple[str, ...]


def make_world(seed: int, persons: int, publications: int) -> World:
    """Return the world of a seed; each argument is 0 or more, the numbers 1 or more.

    Coauthors share a publication, both name each other, and a person's citations are the sum over the publications. One
    more person leaves the other persons as they are; see `works.works`.
    """
    people = [scholar(seed, number) for number in range(persons)]
    made = list(works(seed, persons, publications))
    written: list[list[Work]] = [[] for _ in people]
    for work in made:
        for author in work.authors:
            if author.number < persons:
                written[author.number].append(work)
    return World(
        persons=tuple(_person(each, written[each.number], persons) for each in people),
        fields=tuple(each.field for each in people),
        publications=tuple(_publication(each, persons) for each in made),
        subjects=tuple(each.field for each in made),
    )


def _person(person: Scholar, written: Sequence[Work], persons: int) -> Record:
    met = {author.number: author for work in written for author in work.authors if author.number < persons}
    met.pop(person.number, None)
    return {
        "person_id": person.id,
        "name": person.name,
        "organization": person.organization,
        "interests": list(person.interests),
        "num_citation": sum(work.citations for work in written),
        "num_pubs": len(written),
        "gender": person.gender,
        "position": person.position,
        "bio": person.bio,
        "education_experience": person.education,
        "email": person.email,
        "coauthors": [
            {"person_id": other.id, "name": other.name, "relation": _relation(person, other)} for other in met.values()
        ],
        "publications": [work.id for work in written],
    }


def _relation(person: Scholar, other: Scholar) -> str:
    """Return what the other is to a person; the other has the opposite relation to the person."""
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
