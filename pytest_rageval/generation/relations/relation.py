"""A metamorphic relation, and the variants that it creates from a case."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.generation.relations import BUILTIN
from pytest_rageval.generation.relations.invariants import lost_invariants
from pytest_rageval.generation.relations.records import NO_RECORDS, Records
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.facets import RELATION, VARIANT
from pytest_rageval.registry import Registry
from pytest_rageval.testbeds.ids import digest

__all__ = ["Edit", "Expected", "Relation", "Variant", "as_case", "of_question", "relation_named"]

Expected = Literal["same", "rejection", "truth"]
"""The expected answer to a variant: as good as the original's, a rejection, or anything except the fake answer."""

MAX_TRIES = 500
"""Maximum number of changes to try for one case."""


MAX_EDITS = 10_000
"""Maximum number of edits of one question; only a question longer than any real one has more."""

Edit = tuple[int, int, str]
"""The start and end of a part of a question, and the text that replaces it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A case with one change.

    Attributes:
        relation: the name of its relation.
        number: its number among the variants of its original, from 1.
        original: the case without the change.
        case: the changed case, with the facets ``relation`` and ``variant`` and the id of the original.
        expected: the expected answer.
    """

    relation: str
    number: int
    original: Case
    case: Case
    expected: Expected

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print only the change in Hypothesis and IPython, instead of two whole cases."""
        name = f"Variant({self.case.id!r}, {self.relation} {self.number}"
        if self.case.instance.question != self.original.instance.question:
            printer.text(f"{name}: {self.case.instance.question!r})")
        else:
            printer.text(f"{name}: {', '.join(passage.id for passage in self.case.supplied or ())})")


@dataclass(frozen=True, slots=True)
class Relation:
    """A kind of change to cases, with the expected effect on the answer.

    Attributes:
        name: the name in settings, and the value of the facet ``relation``.
        of: what it changes.
        expected: what the answer to a changed case should be.
        change: yields changed cases in random order, perhaps with repeats and without end; depends only on its
            arguments.
        keeps: (original, changed) -> whether everything that must stay is unchanged.
    """

    name: str
    target: Literal["question", "passages"]
    expected: Expected
    change: Callable[[Case, random.Random, Records], Iterable[Case]]
    keeps: Callable[[Case, Case], bool]

    def applies(self, case: Case | Instance, records: Records = NO_RECORDS) -> bool:
        """Return whether the relation can change a case."""
        return bool(self.variants(case, 0, 1, records))

    def variants(
        self, case: Case | Instance, seed: int, count: int, records: Records = NO_RECORDS
    ) -> tuple[Variant, ...]:
        """Return up to ``count`` different variants of a case.

        The variants depend on the seed and the case, and for ``irrelevant_passage`` on the other records. A larger
        ``count`` only adds variants.

        Args:
            case: the original; an instance means the case with all its passages.
            seed: the seed of the testbed.
            count: number of variants, 1 or more.
            records: the records of the dataset, for passages of other records.
        """
        original = as_case(case)
        chance = random.Random(int.from_bytes(digest(seed, original.instance.id, self.name), "big"))  # noqa: S311
        changed_cases = islice(self._valid_changes(original, chance, records), count)
        return tuple(self._variant(original, number, each) for number, each in enumerate(changed_cases, 1))

    def _valid_changes(self, original: Case, chance: random.Random, records: Records) -> Iterator[Case]:
        """Yield different changes of a case that keep what must not change."""
        contents = {_content(original)}
        for each in islice(self.change(original, chance, records), MAX_TRIES):
            content = _content(each)
            if content not in contents and self.keeps(original, each):
                contents.add(content)
                yield each

    def _variant(self, original: Case, number: int, changed: Case) -> Variant:
        case = changed.with_facets(**{RELATION: self.name, VARIANT: str(number)})
        return Variant(self.name, number, original, case, self.expected)


_RELATIONS: Registry[Relation] = Registry("relation", BUILTIN)


def relation_named(name: str, where: str = "") -> Relation:
    """Return the relation with this name; raise `UnknownNameError`, starting with ``where``, if it is unknown."""
    return _RELATIONS.get(name, where)


def of_question(
    name: str,
    edits: Callable[[str], Iterable[Edit]],
    keeps: Callable[[str, str], bool] | None = None,
) -> Relation:
    """Return a relation that changes only the question.

    Args:
        name: its name.
        edits: yields all edits of a question, in a fixed order; the first `MAX_EDITS` are used.
        keeps: (original, edited) -> whether an edit is allowed; by default, `lost_invariants` must be empty.
    """
    check = keeps or (lambda question, form: not lost_invariants(question, form))

    def change(case: Case, chance: random.Random, records: Records) -> Iterator[Case]:
        question = case.instance.question
        question_edits = list(islice(edits(question), MAX_EDITS))
        chance.shuffle(question_edits)
        for start, end, text in question_edits:
            yield replace(case, instance=replace(case.instance, question=question[:start] + text + question[end:]))

    def keeps_all(original: Case, each: Case) -> bool:
        return original.supplied == each.supplied and check(original.instance.question, each.instance.question)

    return Relation(name, "question", "same", change, keeps_all)


def as_case(case: Case | Instance) -> Case:
    """Return a case; an instance becomes the case with all its passages in order.

    Raises:
        SettingError: it is neither.
    """
    if not isinstance(case, (Case, Instance)):  # a user's test may not be typed
        raise SettingError(f"found {short_repr(case)}, wanted a Case or an Instance")
    return case if isinstance(case, Case) else Case(case.id, case, case.passages, case.facets)


def _content(case: Case) -> object:
    return case.instance.question, None if case.supplied is None else tuple((p.id, p.text) for p in case.supplied)
