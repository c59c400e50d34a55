"""Persons of the invented world; each depends only on its number and the seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_rageval.generation.scholar.chance import Chance
from pytest_rageval.generation.scholar.words import (
    FIELDS,
    GIVEN_FEMALE,
    GIVEN_MALE,
    PLACES,
    POSITIONS,
    STATIONS,
    SURNAME_ENDS,
    SURNAME_STARTS,
)

__all__ = ["Scholar", "group_of", "scholar", "stranger"]

SURNAMES = len(SURNAME_STARTS) * len(SURNAME_ENDS)
STRIDE = 467
"""A prime, so surnames of consecutive persons differ in both parts and repeat only after all were used."""

GROUP = 6
"""Number of persons per organization and field."""

FIRST_START, LAST_START = 1985, 2018
"""First and last year in which a person begins to publish."""

_BLOCK = sum(POSITIONS.values())
SCHOOLS = 2
"""Organizations at each place."""


@dataclass(frozen=True, slots=True)
class Scholar:
    """A person, without publications.

    Persons of a group share organization and field; consecutive persons have different fields.

    Attributes:
        number: from 0.
        id: ``p`` and 11 hexadecimal digits.
        name: unique in the world.
        gender: ``female`` or ``male``.
        organization: the employer.
        position: one of `words.POSITIONS`.
        field: the field of research.
        interests: 3 to 6 topics, most of them from the field.
        start: the year in which the person begins to publish.
        bio: two sentences, without the name of the position.
        education: degrees with school and year, latest first.
        email: an address in the reserved domain ``example``.
    """

    number: int
    id: str
    name: str
    gender: str
    organization: str
    position: str
    field: str
    interests: tuple[str, ...]
    start: int
    bio: str
    education: str
    email: str


@lru_cache(maxsize=4096)
def scholar(seed: int, number: int) -> Scholar:
    """Return the person with a number."""
    chance = Chance(f"{seed}/person/{number}")
    gender, given, surname = _name(seed, number)
    name, position = f"{given} {surname}", _position(seed, number)
    group = Chance(f"{seed}/group/{group_of(number)[0]}")
    place, field = group.pick("place", PLACES), tuple(FIELDS)[number % len(FIELDS)]
    organization = _school(place, group.number("school", SCHOOLS))
    interests = _interests(chance, field)
    start = FIRST_START + chance.number("start", LAST_START - FIRST_START + 1)
    topics = f"{', '.join(interests[:-1])} and {interests[-1]}"
    pronoun = "She" if gender == "female" else "He"
    bio = f"{name} {STATIONS[position]} at {organization} and works on {topics}. {pronoun} has published since {start}."
    return Scholar(
        number=number,
        id=f"p{chance.digits('id', 11)}",
        name=name,
        gender=gender,
        organization=organization,
        position=position,
        field=field,
        interests=interests,
        start=start,
        bio=bio,
        education=_education(chance, position, start),
        email=f"{given}.{surname}@{place}.example".lower().replace(" ", "."),
    )


def group_of(number: int) -> list[int]:
    """Return the numbers of all persons in the group of a person, in order."""
    fields = len(FIELDS)
    first = number - number % (GROUP * fields) + number % fields
    return list(range(first, first + GROUP * fields, fields))


def stranger(chance: Chance, draw: str) -> str:
    """Return the name of an author outside all worlds; a double surname marks it as no person of the world."""
    given = chance.pick(f"{draw} given", GIVEN_FEMALE + GIVEN_MALE)
    return (
        f"{given} {_surname(chance.number(f'{draw} one', SURNAMES))}-{_surname(chance.number(f'{draw} two', SURNAMES))}"
    )


def _name(seed: int, number: int) -> tuple[str, str, str]:
    """Return gender, given name and surname; persons with the same surname differ in given name or initial."""
    gender = Chance(f"{seed}/person/{number}").pick("gender", ("female", "male"))
    given = GIVEN_FEMALE if gender == "female" else GIVEN_MALE
    shift = Chance(f"{seed}/names").number("shift", SURNAMES)
    at, n_rounds = (number * STRIDE + shift) % SURNAMES, number // SURNAMES
    first = Chance(f"{seed}/surname/{at}").number(gender, len(given))
    return gender, given[(first + n_rounds) % len(given)] + _initials(n_rounds // len(given)), _surname(at)


def _surname(at: int) -> str:
    return SURNAME_STARTS[at // len(SURNAME_ENDS)] + SURNAME_ENDS[at % len(SURNAME_ENDS)]


def _initials(rounds: int) -> str:
    """Return "" for 0, then the initials A to Z, then A A and so on."""
    letters = []
    while rounds > 0:
        rounds, at = divmod(rounds - 1, 26)
        letters.append(f" {chr(ord('A') + at)}")
    return "".join(letters)


def _position(seed: int, number: int) -> str:
    """Return the position of a person; each hundred persons have the positions of R-Eval's task ``profiling``."""
    block, at = divmod(number, _BLOCK)
    return _positions(seed, block)[at]


@lru_cache(maxsize=64)
def _positions(seed: int, block: int) -> tuple[str, ...]:
    labels = [label for label, count in POSITIONS.items() for _ in range(count)]
    return tuple(Chance(f"{seed}/positions/{block}").several("order", labels, len(labels)))


def _interests(chance: Chance, field: str) -> tuple[str, ...]:
    topics_of_field = chance.several("own", FIELDS[field], 2 + chance.number("many", 3))
    others = [topic for name, topics in FIELDS.items() if name != field for topic in topics]
    return (*topics_of_field, *chance.several("other", others, 1 + chance.number("more", 2)))


def _education(chance: Chance, position: str, start: int) -> str:
    """Return the degrees; a doctoral student has no doctorate yet."""
    degrees = ["M.Sc.", "B.Sc."] if position == "Ph.D" else ["Ph.D.", "M.Sc.", "B.Sc."]
    years = range(start, start - 3 * len(degrees), -3)
    schools = [_school(chance.pick(f"{degree} place", PLACES), chance.number(degree, SCHOOLS)) for degree in degrees]
    return "; ".join(
        f"{degree}, {school}, {year}" for degree, school, year in zip(degrees, schools, years, strict=True)
    )


def _school(place: str, kind: int) -> str:
    return f"{place} Institute of Technology" if kind else f"University of {place}"
