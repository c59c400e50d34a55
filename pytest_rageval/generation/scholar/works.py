"""The publications of the world: who wrote them, and what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_rageval.generation.scholar.chance import Chance
from pytest_rageval.generation.scholar.people import Scholar, group_of, scholar, stranger
from pytest_rageval.generation.scholar.words import FIELDS, FINDINGS, METHODS, OPENINGS, PLACES, SETTINGS

__all__ = ["Work", "works"]

THIS_YEAR = 2025
"""The year of the newest publications."""

JOINT, ROUND = 3, 5
"""Of each five publications, three are by several persons and two by one person with authors from elsewhere."""

PER_PERSON = 2
"""Publications of a person who writes with no other person."""

FOUNDERS = 3
"""Persons who may have written the first publication. With each round one more person joins them."""

MOST_CITED = 500


@dataclass(frozen=True, slots=True)
class Work:
    """A publication.

    Attributes:
        id: ``w`` and 11 hexadecimal digits.
        title: unique in the world.
        year: not before any of its authors began to publish.
        venue: where it appeared.
        field: the field of its topic.
        abstract: two sentences that do not contain the title.
        citations: number of citations.
        authors: the first authors in order; one with a number beyond the world's persons is no person of it.
        others: names of the last authors, who are persons of no world.
    """

    id: str
    title: str
    year: int
    venue: str
    field: str
    abstract: str
    citations: int
    authors: tuple[Scholar, ...]
    others: tuple[str, ...]


def works(seed: int, persons: int, publications: int) -> Iterator[Work]:
    """Yield the publications of a world.

    The persons who write with each other are the first ones, about one for five publications. Each later person has
    publications of his own, with authors from elsewhere. So one more person changes nothing about the others. In a
    world with about five or more publications for each person, the number of persons decides who writes with whom; it
    then counts as the next smaller power of two, so it matters at 2, 4, 8, 16 and so on.
    """
    together = _reach(publications - 1)
    if persons < together:
        together = 1 << (persons.bit_length() - 1)
    titles = Counter[str]()
    for number in range(publications):
        chance = Chance(f"{seed}/publication/{number}")
        turn, at = divmod(number, ROUND)
        others: tuple[str, ...] = ()
        if at < JOINT:
            numbers = _joint(chance, min(_reach(number), together))
        else:
            numbers = [together + (turn * (ROUND - JOINT) + at - JOINT) // PER_PERSON]
            others = tuple(stranger(chance, f"stranger {each}") for each in range(1 + chance.number("strangers", 2)))
        yield _work(chance, tuple(scholar(seed, each) for each in numbers), others, titles)


def _reach(number: int) -> int:
    """Return how many persons may have written a publication together with others."""
    return FOUNDERS + number // ROUND


def _joint(chance: Chance, persons: int) -> list[int]:
    """Return the authors of a joint publication: one person, one or two of the same group, perhaps one of another."""
    first, guest = chance.number("first", persons), chance.number("guest", 2 * persons)
    mates = [each for each in group_of(first) if each != first and each < persons]
    numbers = [first, *chance.several("mates", mates, 1 + chance.number("many", 2))]
    return numbers if guest >= persons or guest in numbers else [*numbers, guest]


def _work(chance: Chance, authors: tuple[Scholar, ...], others: tuple[str, ...], titles: Counter[str]) -> Work:
    topic = chance.pick("topic", authors[0].interests)
    field = next(name for name, topics in FIELDS.items() if topic in topics)
    opening, setting, part = _place(topic, titles)
    start = max(author.start for author in authors)
    spread = chance.number("citations", MOST_CITED) / MOST_CITED
    venues = [f"{place} Transactions on {field}" for place in Chance(f"venues of {field}").several("places", PLACES, 3)]
    found = f"{chance.pick('method', METHODS)} {chance.pick('finding', FINDINGS)}"
    return Work(
        id=f"w{chance.digits('id', 11)}",
        title=f"{opening} {topic} {setting}{part}",
        year=start + chance.number("year", THIS_YEAR - start + 1),
        venue=chance.pick("venue", venues),
        field=field,
        abstract=f"We study {topic} {setting}, with {20 + chance.number('samples', 980)} samples from "
        f"{chance.pick('place', PLACES)}. There, {found} by {2 + chance.number('percent', 90)} percent.",
        citations=int(MOST_CITED * spread**3),
        authors=authors,
        others=others,
    )


def _place(topic: str, titles: Counter[str]) -> tuple[str, str, str]:
    """Return the words around a topic; no two publications of a topic have the same."""
    before, combined = titles[topic], len(OPENINGS) * len(SETTINGS)
    titles[topic] += 1
    part, at = divmod(before, combined)
    shifted = (at * STEP + Chance(f"titles of {topic}").number("shift", combined)) % combined
    opening, setting = divmod(shifted, len(SETTINGS))
    return OPENINGS[opening], SETTINGS[setting], f", part {part + 1}" if part else ""


STEP = 125
"""Shares no divisor with the number of openings and settings, so all their pairs come before one comes again."""
