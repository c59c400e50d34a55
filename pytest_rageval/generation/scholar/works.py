"""Publications of the invented world: authors, titles and abstracts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_rageval.generation.scholar.chance import Chance
from pytest_rageval.generation.scholar.people import Scholar, group_of, scholar, stranger
from pytest_rageval.generation.scholar.words import FIELDS, FINDINGS, METHODS, OPENINGS, PLACES, SETTINGS

__all__ = ["Work", "works"]

THIS_YEAR = 2025
"""Year of the newest publications."""

N_JOINT, ROUND = 3, 5
"""Of each five publications, three have several persons as authors, two have one person and outside authors."""

PER_PERSON = 2
"""Number of publications of a person who writes only with outside authors."""

FOUNDERS = 3
"""Number of possible authors of the first publication; each round adds one person."""

MAX_CITATIONS = 500


@dataclass(frozen=True, slots=True)
class Work:
    """A publication.

    Attributes:
        id: ``w`` and 11 hexadecimal digits.
        title: unique in the world.
        year: not before the first year of any author.
        venue: the journal.
        field: the field of its topic.
        abstract: two sentences that do not contain the title.
        citations: number of citations.
        authors: the first authors in order; an author with a number beyond the world's persons has no record.
        others: names of the last authors, who are outside all worlds.
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

    The first persons, about one per five publications, write with each other. Each later person has separate
    publications with outside authors, so one more person changes nothing about the others. With about five or more
    publications per person, the number of persons, rounded down to a power of two, decides who writes with whom.
    """
    n_joint_authors = _possible_authors(publications - 1)
    if persons < n_joint_authors:
        n_joint_authors = 1 << (persons.bit_length() - 1)
    titles = Counter[str]()
    for number in range(publications):
        chance = Chance(f"{seed}/publication/{number}")
        turn, at = divmod(number, ROUND)
        others: tuple[str, ...] = ()
        if at < N_JOINT:
            numbers = _joint(chance, min(_possible_authors(number), n_joint_authors))
        else:
            numbers = [n_joint_authors + (turn * (ROUND - N_JOINT) + at - N_JOINT) // PER_PERSON]
            others = tuple(stranger(chance, f"stranger {each}") for each in range(1 + chance.number("strangers", 2)))
        yield _work(chance, tuple(scholar(seed, each) for each in numbers), others, titles)


def _possible_authors(number: int) -> int:
    """Return how many persons are possible authors of a joint publication."""
    return FOUNDERS + number // ROUND


def _joint(chance: Chance, persons: int) -> list[int]:
    """Return the authors of a joint publication: one person, one or two of the same group, perhaps a guest."""
    first, guest = chance.number("first", persons), chance.number("guest", 2 * persons)
    mates = [each for each in group_of(first) if each != first and each < persons]
    numbers = [first, *chance.several("mates", mates, 1 + chance.number("many", 2))]
    return numbers if guest >= persons or guest in numbers else [*numbers, guest]


def _work(chance: Chance, authors: tuple[Scholar, ...], others: tuple[str, ...], titles: Counter[str]) -> Work:
    """Return a publication of some authors."""
    topic = chance.pick("topic", authors[0].interests)
    field = next(name for name, topics in FIELDS.items() if topic in topics)
    opening, setting, part = _title_words(topic, titles)
    start = max(author.start for author in authors)
    spread = chance.number("citations", MAX_CITATIONS) / MAX_CITATIONS
    venues = [f"{place} Transactions on {field}" for place in Chance(f"venues of {field}").several("places", PLACES, 3)]
    finding = f"{chance.pick('method', METHODS)} {chance.pick('finding', FINDINGS)}"
    return Work(
        id=f"w{chance.digits('id', 11)}",
        title=f"{opening} {topic} {setting}{part}",
        year=start + chance.number("year", THIS_YEAR - start + 1),
        venue=chance.pick("venue", venues),
        field=field,
        abstract=f"We study {topic} {setting}, with {20 + chance.number('samples', 980)} samples from "
        f"{chance.pick('place', PLACES)}. There, {finding} by {2 + chance.number('percent', 90)} percent.",
        citations=int(MAX_CITATIONS * spread**3),
        authors=authors,
        others=others,
    )


def _title_words(topic: str, titles: Counter[str]) -> tuple[str, str, str]:
    """Return the title words around a topic, different for each publication of the topic."""
    before, combined = titles[topic], len(OPENINGS) * len(SETTINGS)
    titles[topic] += 1
    part, at = divmod(before, combined)
    shifted = (at * STEP + Chance(f"titles of {topic}").number("shift", combined)) % combined
    opening, setting = divmod(shifted, len(SETTINGS))
    return OPENINGS[opening], SETTINGS[setting], f", part {part + 1}" if part else ""


STEP = 125
"""Coprime to the number of (opening, setting) pairs, so all pairs occur before one repeats."""
