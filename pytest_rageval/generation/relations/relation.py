"""A relation, and the variants that it makes of a case."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.generation.relations import BUILTIN
from pytest_rageval.generation.relations.records import NO_RECORDS, Records
from pytest_rageval.generation.relations.unchanged import changes_of
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.facets import RELATION, VARIANT
from pytest_rageval.registry import Registry
from pytest_rageval.testbeds.ids import digest

__all__ = ["Edit", "Expected", "Relation", "Variant", "as_case", "of_question", "relation_named"]

Expected = Literal["same", "rejection", "truth"]
"""What the answer to a variant should be: as good as the original's, a rejection, or anything but the fake answer."""

MOST_TRIES = 500
"""Changes that are tried for one case until enough of them keep what must not change."""


MOST_EDITS = 10_000
"""Edits of one question that are listed; a question with more of them is longer than any that people ask."""

Edit = tuple[int, int, str]
"""The start and end of a part of a question, and the text that replaces it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A case with one change.

    Attributes:
        relation: the name of the relation that made it.
        number: its number among the variants of its original, from 1.
        original: the case without the change.
        case: the changed case, with the facets ``relation`` and ``variant``; its id is the original's.
        expected: what its answer should be.
    """

    relation: str
    number: int
    original: Case
    case: Case
    expected: Expected

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print what changed, in Hypothesis and IPython, instead of two whole cases."""
        name = f"Variant({self.case.id!r}, {self.relation} {self.number}"
        if self.case.instance.question != self.original.instance.question:
            printer.text(f"{name}: {self.case.instance.question!r})")
        else:
            printer.text(f"{name}: {', '.join(passage.id for passage in self.case.supplied or ())})")


@dataclass(frozen=True, slots=True)
class Relation:
    """A kind of change.

    Attributes:
        name: the name that users write, also the value of the facet ``relation``.
        of: what it changes.
        expected: what the answer to a changed case should be.
        changed: yields changed cases in a random order, also equal ones, without end if there are many; pure but for
            the random numbers.
        keeps: returns whether a change keeps all that it must not change.
    """

    name: str
    of: Literal["question", "passages"]
    expected: Expected
    changed: Callable[[Case, random.Random, Records], Iterable[Case]]
    keeps: Callable[[Case, Case], bool]

    def applies(self, case: Case | Instance, records: Records = NO_RECORDS) -> bool:
        """Return whether the relation can change a case at all."""
        return bool(self.variants(case, 0, 1, records))

    def variants(
        self, case: Case | Instance, seed: int, count: int, records: Records = NO_RECORDS
    ) -> tuple[Variant, ...]:
        """Return up to ``count`` variants of a case, all different; fewer if there are fewer, () if there is none.

        The variants depend on the seed and the case, and for ``irrelevant_passage`` on the other records. The first
        ones do not depend on ``count``.

        Args:
            case: the original; an instance stands for the case with all its passages.
            seed: the seed of the testbed.
            count: number of variants, 1 or more.
            records: the records of the dataset, for passages of others.
        """
        original = as_case(case)
        chance = random.Random(int.from_bytes(digest(seed, original.instance.id, self.name), "big"))  # noqa: S311
        found = islice(self._kept(original, chance, records), count)
        return tuple(self._variant(original, number, each) for number, each in enumerate(found, 1))

    def _kept(self, original: Case, chance: random.Random, records: Records) -> Iterator[Case]:
        seen = {_content(original)}
        for each in islice(self.changed(original, chance, records), MOST_TRIES):
            content = _content(each)
            if content not in seen and self.keeps(original, each):
                seen.add(content)
                yield each

    def _variant(self, original: Case, number: int, changed: Case) -> Variant:
        labelled = changed.with_facets(**{RELATION: self.name, VARIANT: str(number)})
        return Variant(self.name, number, original, labelled, self.expected)


_RELATIONS: Registry[Relation] = Registry("relation", BUILTIN)


def relation_named(name: str, where: str = "") -> Relation:
    """Return the relation with this name; raise `UnknownNameError`, which begins with ``where``, for an unknown one."""
    return _RELATIONS.get(name, where)


def of_question(
    name: str,
    edits: Callable[[str], Iterable[Edit]],
    keeps: Callable[[str, str], bool] | None = None,
) -> Relation:
    """Return a relation that changes the question and nothing else.

    Args:
        name: its name.
        edits: yields all edits of a question, in a fixed order; the first `MOST_EDITS` are used.
        keeps: returns whether a question keeps what an edit must not change; by default `changes_of` must find nothing.
    """
    check = keeps or (lambda question, form: not changes_of(question, form))

    def changed(case: Case, chance: random.Random, records: Records) -> Iterator[Case]:
        question = case.instance.question
        possible = list(islice(edits(question), MOST_EDITS))
        chance.shuffle(possible)
        for start, end, text in possible:
            yield replace(case, instance=replace(case.instance, question=question[:start] + text + question[end:]))

    def keeps_all(original: Case, each: Case) -> bool:
        return original.supplied == each.supplied and check(original.instance.question, each.instance.question)

    return Relation(name, "question", "same", changed, keeps_all)


def as_case(case: Case | Instance) -> Case:
    """Return a case; an instance stands for the case with all its passages, in their order.

    Raises:
        SettingError: it is neither.
    """
    if not isinstance(case, (Case, Instance)):  # a user's test may not be typed
        raise SettingError(f"found {short_repr(case)}, wanted a Case or an Instance")
    return case if isinstance(case, Case) else Case(case.id, case, case.passages, case.facets)


def _content(case: Case) -> object:
    return case.instance.question, None if case.supplied is None else tuple((p.id, p.text) for p in case.supplied)
