"""What of a page leads to a case, and where else: sentences whose pieces may be links, and lists of cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_rageval.report.html.visible_text import in_address

__all__ = ["Cases", "Piece", "Sentence", "listed"]

NAMED = 200  # cases of a kind that are listed


class Piece(NamedTuple):
    """A piece of a sentence; ``to`` is the address within the page that it leads to, or ""."""

    text: str
    to: str = ""


Sentence = list[Piece]


class Cases:
    """The cases of a page by their node ids: no others can be opened in it.

    Args:
        columns: what `columns.columns_of` made.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._rows = {nodeid: row for row, nodeid in enumerate(columns["nodeid"])}
        self._ids = columns["case"]

    def __contains__(self, nodeid: str) -> bool:
        return nodeid in self._rows

    def case_id(self, nodeid: str) -> str:
        """Return the id of a case, and of what is none the node id without its file."""
        if nodeid in self._rows:
            name: str = self._ids["values"][self._ids["codes"][self._rows[nodeid]]]
            return name
        return nodeid.partition("::")[2] or nodeid

    def named(self, names: Sequence[tuple[str, str]], most: int, rest: str) -> Iterator[Piece]:
        """Yield names as an enumeration, each a link if it is of a case.

        Args:
            names: each with its node id.
            most: how many are named; how many more there are follows.
            rest: the address of all of them.
        """
        for at, (name, nodeid) in enumerate(names[:most]):
            if at:
                yield Piece(", ")
            yield Piece(name, in_address(nodeid) if nodeid in self else "")
        if len(names) > most:
            yield Piece(" and ")
            yield Piece(f"{len(names) - most:,} more", rest)

    def by_id(self, nodeids: Iterable[str]) -> list[tuple[str, str]]:
        """Return (case id, node id), of a case that stands under several settings the first."""
        found: dict[str, str] = {}
        for nodeid in nodeids:
            found.setdefault(self.case_id(nodeid), nodeid)
        return list(found.items())


def listed(named: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the first of (node id, what of it), with how many there are and how many are left out."""
    return {"n": len(named), "cases": named[:NAMED], "more": max(0, len(named) - NAMED)}
