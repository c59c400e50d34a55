"""The cases of a project that a page offers: found by words, by facets and by id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pytest_rageval.errors import UnknownNameError

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Entry

__all__ = ["CaseList", "FoundCase"]


@dataclass(frozen=True, slots=True)
class FoundCase:
    """A case in a list.

    Attributes:
        nodeid: the node id of its test.
        id: its id.
        question: its question.
        facets: its facets.
    """

    nodeid: str
    id: str
    question: str
    facets: Mapping[str, str]


class CaseList:
    """The cases of the tests of a session, one for each setting: of several systems, the first stands for all.

    Args:
        entries: the node id and the case of each test, in order of collection.
    """

    def __init__(self, entries: Iterable[tuple[str, Entry]]) -> None:
        self._entries: dict[str, Entry] = {}
        self._by_id: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        first: dict[tuple[object, str, str], str] = {}
        for nodeid, entry in entries:
            place = (entry.testbed, entry.param_id.partition("-system=")[0], entry.case.facets.get("repeat", ""))
            self._by_id.setdefault(nodeid, first.setdefault(place, nodeid))
            if first[place] != nodeid:
                continue
            self._entries[nodeid] = entry
            self._by_id.setdefault(entry.case.id, nodeid)
            self._texts[nodeid] = f"{entry.case.instance.question}\n{nodeid}".casefold()

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, name: str) -> tuple[str, Entry]:
        """Return the node id and the case of a node id or an id.

        Raises:
            UnknownNameError: there is no such case.
        """
        nodeid = self._by_id.get(name)
        if nodeid is None:
            raise UnknownNameError("case", name, self._by_id)
        return nodeid, self._entries[nodeid]

    def find(
        self, words: str, facets: Mapping[str, str], most: int, among: Collection[str] | None = None
    ) -> tuple[list[FoundCase], int]:
        """Return the first cases that contain all words in their question or node id, and the number of all.

        Args:
            words: separated by spaces; upper and lower case are the same.
            facets: facet -> the value that a case must have.
            most: the largest number of cases to return.
            among: node ids; None for all cases.
        """
        matches = list(self._matches(words.casefold().split(), facets, among))
        return [self._shown(nodeid) for nodeid in islice(matches, most)], len(matches)

    def _matches(
        self, words: Collection[str], facets: Mapping[str, str], among: Collection[str] | None
    ) -> Iterator[str]:
        for nodeid, text in self._texts.items():
            if among is not None and nodeid not in among:
                continue
            own = self._entries[nodeid].case.facets
            if all(word in text for word in words) and all(own.get(name) == each for name, each in facets.items()):
                yield nodeid

    def _shown(self, nodeid: str) -> FoundCase:
        case = self._entries[nodeid].case
        return FoundCase(nodeid, case.id, case.instance.question, case.facets)
