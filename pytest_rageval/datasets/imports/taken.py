"""The result of an import: rows that pass the checks of our formats, and what was skipped."""

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

__all__ = ["NO_VALUE", "ImportResult", "Order"]

REPEATED = "repeated passages of a ranking"

NO_VALUE = ("not_a_number", "out_of_range")
"""The reasons of scores whose value cannot be one."""


@dataclass(frozen=True, slots=True)
class Order:
    """The request of an import.

    Attributes:
        paths: the files or folders.
        system: the name of the system that gave the answers, or "" if the files name it.
        cases: the dataset with the cases of scores without ids, or None.
        slots: whether answer lists within lists are slots, which must all match.
        content_ids: whether rows without an id get an id from their content instead of their number.
        id_attribute: the attribute of spans that holds the id of the case, or "" for the id of the trace.
        failed: whether only failed traces are imported.
    """

    paths: tuple[Path, ...]
    system: str = ""
    cases: Path | None = None
    slots: bool = False
    content_ids: bool = False
    id_attribute: str = ""
    failed: bool = False


class ImportResult:
    """Rows in our own formats, and what was skipped.

    Attributes:
        rows: number of rows in the sources.
        cases: lines of a dataset.
        answers: lines of recorded answers.
        scores: lines of scores: ``id``, ``metric``, ``value`` or ``reason``, and ``system`` if known.
        chain: the text of a chain's file, or "".
        left: ``file:line`` and the reason for each skipped row, answer or score.
        fields: fields that were skipped in imported rows -> number of these rows.
        needless: fields that nothing here needs, such as the prompt in OmniEval's predictions; they are not a loss.
        notes: other information for the user, in whole sentences.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.cases: list[JsonObject] = []
        self.answers: list[JsonObject] = []
        self.scores: list[JsonObject] = []
        self.chain = ""
        self.left: list[tuple[str, str]] = []
        self.fields: Counter[str] = Counter()
        self.needless: set[str] = {REPEATED}
        self.notes: list[str] = []
        self._cases: dict[str, tuple[str, JsonObject]] = {}
        self._claimed: dict[object, str] = {}

    def leave(self, where: str, why: str) -> None:
        """Record a skipped row, and why."""
        self.left.append((where, why))

    def case(self, where: str, row: JsonObject) -> bool:
        """Add a line of a dataset, or record it as skipped; return whether the dataset has it now.

        An identical line belongs to another answer of the same case; the dataset holds it once.
        """
        try:
            instance = read_instance(Fields(where, row), "imported")
        except DataError as error:
            self.leave(error.where, error.problem)
            return False
        first_where, first = self._cases.setdefault(instance.id, (where, row))
        if first is row:
            self.cases.append(row)
        elif first != row:
            self.leave(where, f"another case of the id {short_repr(instance.id)} stands in {first_where} already")
            return False
        return True

    def is_other(self, name: str, row: JsonObject) -> bool:
        """Return whether the dataset has another case with this id."""
        return name in self._cases and self._cases[name][1] != row

    @property
    def lost(self) -> bool:
        """Whether a row was skipped, or a field that is not in ``needless``."""
        return bool(self.left) or any(name not in self.needless for name in self.fields)

    def answer(self, where: str, row: JsonObject) -> None:
        """Add a line of recorded answers, or record it as skipped."""
        try:
            recorded = read_recorded(Fields(where, row))
        except DataError as error:
            self.leave(error.where, f"its answer was left: {error.problem}")
            return
        if self._is_first(where, (recorded.id, recorded.system), f"an answer to {short_repr(recorded.id)}"):
            self.answers.append(row)

    def score(self, where: str, row: JsonObject, source: object) -> None:
        """Add a line of scores; record a second one for the same case, system and metric as skipped.

        If ``source``, the score as written, is not a valid value, it is recorded too, and the line has the reason.
        """
        key = (row["id"], row.get("system", ""), row["metric"])
        what = f"{row['metric']} of {short_repr(row['id'])}"
        if not self._is_first(where, key, what):
            return
        self.scores.append(row)
        if row.get("reason") in NO_VALUE:
            self.leave(where, f"{what} is {row['reason']}: {short_repr(source)}")

    def _is_first(self, where: str, key: object, what: str) -> bool:
        first = self._claimed.setdefault(key, where)
        if first is not where:
            self.leave(where, f"{what} stands in {first} already; import each system by itself, with --system")
        return first is where

    def ranking(self, items: Iterable[JsonObject]) -> list[JsonObject]:
        """Return the passages of a ranking without repetitions."""
        first: dict[object, JsonObject] = {}
        for item in items:
            if first.setdefault(str(item.get("id")), item) is not item:
                self.fields[REPEATED] += 1
        return list(first.values())

    def facets(self, values: Mapping[str, object], known: Collection[str] = ()) -> JsonObject:
        """Return the values that can be facets, for keys that are not ``known``; record the others as skipped."""
        reserved = RESERVED.union(KEYS)
        facets = {
            name: value
            for name, value in values.items()
            if isinstance(value, (str, int, float)) and name.strip() and name not in reserved and name not in known
        }
        self.drop(values, {*known, *facets})
        return {name: value for name, value in facets.items() if value != ""}

    def drop(self, values: Mapping[str, object], known: Collection[str], prefix: str = "") -> None:
        """Record the keys as skipped that are not ``known`` and not empty."""
        filled = (name for name, value in values.items() if value is not None and value not in ("", [], {}))
        self.fields.update(prefix + name for name in filled if name not in known)
