"""List the cases of a project, and find them by words, facets and id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pytest_rageval.errors import UnknownNameError

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Entry

__all__ = ["CaseList", "ListedCase"]


@dataclass(frozen=True, slots=True)
class ListedCase:
    """A case as a list shows it.

    Attributes:
        nodeid: the node id of the case's test.
        id: the case's id.
        question: the case's question.
        facets: facet -> value.
    """

    nodeid: str
    id: str
    question: str
    facets: Mapping[str, str]


class CaseList:
    """The cases of a session's tests. If several systems answer a case, it is listed once, for the first system.

    Args:
        entries: (node id, case) of each test, in order of collection.
    """

    def __init__(self, entries: Iterable[tuple[str, Entry]]) -> None:
        self._entries: dict[str, Entry] = {}
        self._by_id: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        first: dict[tuple[object, str, str], str] = {}
        for nodeid, entry in entries:
            key = (entry.testbed, entry.param_id.partition("-system=")[0], entry.case.facets.get("repeat", ""))
            self._by_id.setdefault(nodeid, first.setdefault(key, nodeid))
            if first[key] != nodeid:
                continue
            self._entries[nodeid] = entry
            self._by_id.setdefault(entry.case.id, nodeid)
            self._texts[nodeid] = f"{entry.case.instance.question}\n{nodeid}".casefold()

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, name: str) -> tuple[str, Entry]:
        """Return (node id, case) for a node id or a case id.

        Raises:
            UnknownNameError: there is no such case.
        """
        nodeid = self._by_id.get(name)
        if nodeid is None:
            raise UnknownNameError("case", name, self._by_id)
        return nodeid, self._entries[nodeid]

    def find(
        self, words: str, facets: Mapping[str, str], limit: int, among: Collection[str] | None = None
    ) -> tuple[list[ListedCase], int]:
        """Return the first cases whose question or node id contains all words, and the number of all such cases.

        Args:
            words: words separated by spaces; case does not matter.
            facets: facet -> the value that a case must have.
            limit: the maximum number of cases to return.
            among: node ids of the cases to search; None searches all.
        """
        matches = list(self._matches(words.casefold().split(), facets, among))
        return [self._listed(nodeid) for nodeid in islice(matches, limit)], len(matches)

    def _matches(
        self, words: Collection[str], facets: Mapping[str, str], among: Collection[str] | None
    ) -> Iterator[str]:
        for nodeid, text in self._texts.items():
            if among is not None and nodeid not in among:
                continue
            values = self._entries[nodeid].case.facets
            if all(word in text for word in words) and all(values.get(name) == each for name, each in facets.items()):
                yield nodeid

    def _listed(self, nodeid: str) -> ListedCase:
        case = self._entries[nodeid].case
        return ListedCase(nodeid, case.id, case.instance.question, case.facets)
