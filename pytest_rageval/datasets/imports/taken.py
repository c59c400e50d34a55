"""What an import takes of its sources, each row by the checks of our own formats, and what it leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.datasets.fields import RESERVED, Fields
from pytest_rageval.datasets.jsonl import KEYS, read_instance
from pytest_rageval.datasets.recorded import read_recorded
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError, found

__all__ = ["NO_VALUE", "Order", "Taken"]

REPEATED = "repeated passages of a ranking"

NO_VALUE = ("not_a_number", "out_of_range")
"""The reasons of scores whose value cannot be one."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be imported.

    Attributes:
        paths: the files or folders.
        system: the name of the system that gave the answers, or "" where the files are to tell.
        cases: the dataset whose cases scores without ids are of, or None.
        slots: whether answer lists within lists are slots, each of which must be met.
        content_ids: whether rows without an id are named by their content instead of their number.
    """

    paths: tuple[Path, ...]
    system: str = ""
    cases: Path | None = None
    slots: bool = False
    content_ids: bool = False


class Taken:
    """Rows in our own formats, and the names of what was left.

    Attributes:
        rows: how many rows the sources held.
        cases: lines of a dataset.
        answers: lines of recorded answers.
        scores: lines of scores: ``id``, ``metric``, ``value`` or ``reason``, and ``system`` where it is known.
        left: ``file:line`` and why, of each row that was left, or whose answer or score was.
        fields: what was left within rows that were taken, and of how many.
        needless: the fields that nothing here needs, such as the prompt in OmniEval's predictions; none is lost.
        notes: what else a user should know, in whole sentences.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.cases: list[JsonObject] = []
        self.answers: list[JsonObject] = []
        self.scores: list[JsonObject] = []
        self.left: list[tuple[str, str]] = []
        self.fields: Counter[str] = Counter()
        self.needless: set[str] = {REPEATED}
        self.notes: list[str] = []
        self._cases: dict[str, tuple[str, JsonObject]] = {}
        self._claimed: dict[object, str] = {}

    def leave(self, where: str, why: str) -> None:
        """Name a row that is not taken, and why."""
        self.left.append((where, why))

    def case(self, where: str, row: JsonObject) -> bool:
        """Take a line of a dataset, or name it as left; return whether the dataset has it now.

        The same line again is the case of another answer, and stands in the dataset once.
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
            self.leave(where, f"another case of the id {found(instance.id)} stands in {first_where} already")
            return False
        return True

    def is_other(self, name: str, row: JsonObject) -> bool:
        """Return whether the dataset has another case of this id."""
        return name in self._cases and self._cases[name][1] != row

    @property
    def lost(self) -> bool:
        """Whether a row was left, or a field that somebody could miss."""
        return bool(self.left) or any(name not in self.needless for name in self.fields)

    def answer(self, where: str, row: JsonObject) -> None:
        """Take a line of recorded answers, or name it as left."""
        try:
            recorded = read_recorded(Fields(where, row))
        except DataError as error:
            self.leave(error.where, f"its answer was left: {error.problem}")
            return
        if self._is_first(where, (recorded.id, recorded.system), f"an answer to {found(recorded.id)}"):
            self.answers.append(row)

    def score(self, where: str, row: JsonObject, said: object) -> None:
        """Take a line of scores; one that is the second of its case, system and metric is named as left.

        So is what was ``said`` where it cannot be a value; its line then has the reason.
        """
        key = (row["id"], row.get("system", ""), row["metric"])
        what = f"{row['metric']} of {found(row['id'])}"
        if not self._is_first(where, key, what):
            return
        self.scores.append(row)
        if row.get("reason") in NO_VALUE:
            self.leave(where, f"{what} is {row['reason']}: {found(said)}")

    def _is_first(self, where: str, key: object, what: str) -> bool:
        first = self._claimed.setdefault(key, where)
        if first is not where:
            self.leave(where, f"{what} stands in {first} already; import each system by itself, with --system")
        return first is where

    def ranking(self, items: Iterable[JsonObject]) -> list[JsonObject]:
        """Return the passages of a ranking, each where it stands first."""
        kept: dict[object, JsonObject] = {}
        for item in items:
            if kept.setdefault(str(item.get("id")), item) is not item:
                self.fields[REPEATED] += 1
        return list(kept.values())

    def facets(self, values: Mapping[str, object], known: Collection[str] = ()) -> JsonObject:
        """Return the values that can be facets, of the keys that are not ``known``; the others are named as left."""
        taken = RESERVED.union(KEYS)
        kept = {
            name: value
            for name, value in values.items()
            if isinstance(value, (str, int, float)) and name.strip() and name not in taken and name not in known
        }
        self.drop(values, {*known, *kept})
        return {name: value for name, value in kept.items() if value != ""}

    def drop(self, values: Mapping[str, object], known: Collection[str], prefix: str = "") -> None:
        """Name the keys as left that are not ``known`` and say anything."""
        said = (name for name, value in values.items() if value is not None and value not in ("", [], {}))
        self.fields.update(prefix + name for name in said if name not in known)
