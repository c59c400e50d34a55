"""The request and the result of an import: converted rows and skipped rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.datasets.fields import RESERVED, Fields
from pytest_rageval.datasets.jsonl import KEYS, read_instance
from pytest_rageval.datasets.recorded import read_recorded
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError, short_repr

__all__ = ["INVALID_VALUE", "ImportRequest", "ImportResult"]

DUPLICATE_PASSAGES = "repeated passages of a ranking"

INVALID_VALUE = ("not_a_number", "out_of_range")
"""Reasons of scores whose source value is invalid."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """The request of an import.

    Attributes:
        paths: the files or folders.
        system: name of the system that wrote the answers; "" if the files name it.
        cases: the dataset that scores without case ids belong to, or None.
        slots: whether lists inside an answer list are slots, which must all match.
        content_ids: whether rows without an id get an id from their content instead of their number.
        id_attribute: the span attribute with the id of the case; "" to use the trace id.
        failed: whether to import only failed traces.
    """

    paths: tuple[Path, ...]
    system: str = ""
    cases: Path | None = None
    slots: bool = False
    content_ids: bool = False
    id_attribute: str = ""
    failed: bool = False


class ImportResult:
    """Rows in our own formats, and a record of everything that was skipped.

    Attributes:
        rows: number of rows in the sources.
        cases: rows of a dataset.
        answers: rows of recorded answers.
        scores: rows of scores: ``id``, ``metric``, ``value`` or ``reason``, and ``system`` if known.
        chain: the text of a chain file, or "".
        skipped: ``file:line`` and reason of each skipped row, answer or score.
        fields: skipped field of imported rows -> number of these rows.
        unneeded: skipped fields that are no loss, such as the prompt in OmniEval's predictions.
        notes: other information for the user, in whole sentences.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.cases: list[JsonObject] = []
        self.answers: list[JsonObject] = []
        self.scores: list[JsonObject] = []
        self.chain = ""
        self.skipped: list[tuple[str, str]] = []
        self.fields: Counter[str] = Counter()
        self.unneeded: set[str] = {DUPLICATE_PASSAGES}
        self.notes: list[str] = []
        self._cases: dict[str, tuple[str, JsonObject]] = {}
        self._claimed: dict[object, str] = {}

    def skip(self, where: str, why: str) -> None:
        """Record a skipped row and the reason."""
        self.skipped.append((where, why))

    def case(self, where: str, row: JsonObject) -> bool:
        """Add a row to the dataset or record it as skipped; return whether the dataset contains it now.

        An identical row comes with another answer to the same case; the dataset contains it once.
        """
        try:
            instance = read_instance(Fields(where, row), "imported")
        except DataError as error:
            self.skip(error.where, error.problem)
            return False
        first_where, first = self._cases.setdefault(instance.id, (where, row))
        if first is row:
            self.cases.append(row)
        elif first != row:
            self.skip(where, f"another case with the id {short_repr(instance.id)} is already in {first_where}")
            return False
        return True

    def is_other_case(self, name: str, row: JsonObject) -> bool:
        """Return whether the dataset contains a different case with this id."""
        return name in self._cases and self._cases[name][1] != row

    @property
    def lost(self) -> bool:
        """Whether a row or a needed field was skipped."""
        return bool(self.skipped) or any(name not in self.unneeded for name in self.fields)

    def answer(self, where: str, row: JsonObject) -> None:
        """Add a recorded answer or record it as skipped."""
        try:
            answer = read_recorded(Fields(where, row))
        except DataError as error:
            self.skip(error.where, f"answer skipped: {error.problem}")
            return
        if self._is_first(where, (answer.id, answer.system), f"an answer to {short_repr(answer.id)}"):
            self.answers.append(row)

    def score(self, where: str, row: JsonObject, source: object) -> None:
        """Add a score; record a duplicate for the same case, system and metric as skipped.

        If the source value is invalid, the score has a reason instead of a value, and is also recorded as skipped.

        Args:
            where: ``file:line`` of the score.
            row: the score.
            source: the score as written in the source.
        """
        key = (row["id"], row.get("system", ""), row["metric"])
        what = f"{row['metric']} of {short_repr(row['id'])}"
        if not self._is_first(where, key, what):
            return
        self.scores.append(row)
        if row.get("reason") in INVALID_VALUE:
            self.skip(where, f"{what} is {row['reason']}: {short_repr(source)}")

    def _is_first(self, where: str, key: object, what: str) -> bool:
        first = self._claimed.setdefault(key, where)
        if first is not where:
            self.skip(where, f"{what} is already in {first}; import each system by itself, with --system")
        return first is where

    def ranking(self, items: Iterable[JsonObject]) -> list[JsonObject]:
        """Return the passages of a ranking without duplicates, and count the duplicates."""
        first: dict[object, JsonObject] = {}
        for item in items:
            if first.setdefault(str(item.get("id")), item) is not item:
                self.fields[DUPLICATE_PASSAGES] += 1
        return list(first.values())

    def facets(self, values: Mapping[str, object], known: Collection[str] = ()) -> JsonObject:
        """Return the unknown keys whose values can be facets; record the other unknown keys as skipped."""
        reserved = RESERVED.union(KEYS)
        facets = {
            name: value
            for name, value in values.items()
            if isinstance(value, (str, int, float)) and name.strip() and name not in reserved and name not in known
        }
        self.drop(values, {*known, *facets})
        return {name: value for name, value in facets.items() if value != ""}

    def drop(self, values: Mapping[str, object], known: Collection[str], prefix: str = "") -> None:
        """Record unknown keys with a value as skipped."""
        filled = (name for name, value in values.items() if value is not None and value not in ("", [], {}))
        self.fields.update(prefix + name for name in filled if name not in known)
