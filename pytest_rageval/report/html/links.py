"""Links of the page: sentences with links to cases, and lists of cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from pytest_rageval.report.html.visible_text import in_address

__all__ = ["Cases", "Piece", "Sentence", "case_list", "view_query"]

NAMED = 200  # cases of each kind that are listed


class Piece(NamedTuple):
    """A piece of a sentence; ``to`` is the address within the page that it links to, or ""."""

    text: str
    to: str = ""


Sentence = list[Piece]


class Cases:
    """The cases of a page by node id; the page can open no others.

    Args:
        columns: the result of `columns.columns_of`.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._rows = {nodeid: row for row, nodeid in enumerate(columns["nodeid"])}
        self._ids = columns["case"]

    def __contains__(self, nodeid: str) -> bool:
        return nodeid in self._rows

    def case_id(self, nodeid: str) -> str:
        """Return the id of a case; for another node id, the node id without its file."""
        if nodeid in self._rows:
            name: str = self._ids["values"][self._ids["codes"][self._rows[nodeid]]]
            return name
        return nodeid.partition("::")[2] or nodeid

    def link_names(self, names: Sequence[tuple[str, str]], most: int, rest: str) -> Iterator[Piece]:
        """Yield names as an enumeration; names of cases are links.

        Args:
            names: (name, node id) pairs.
            most: how many names to show, followed by the number of the rest.
            rest: the address of the whole list.
        """
        for at, (name, nodeid) in enumerate(names[:most]):
            if at:
                yield Piece(", ")
            yield Piece(name, in_address(nodeid) if nodeid in self else "")
        if len(names) > most:
            yield Piece(" and ")
            yield Piece(f"{len(names) - most:,} more", rest)

    def by_id(self, nodeids: Iterable[str]) -> list[tuple[str, str]]:
        """Return (case id, node id) pairs; a case with several settings appears once, with its first node id."""
        first: dict[str, str] = {}
        for nodeid in nodeids:
            first.setdefault(self.case_id(nodeid), nodeid)
        return list(first.items())


def case_list(pairs: Sequence[tuple[str, str]], others: int = 0) -> dict[str, Any]:
    """Return the first (node id, detail) pairs, with their number, how many are left out, and how many are cases.

    Args:
        pairs: node ids with details.
        others: how many of them are no cases of the page.
    """
    n = len(pairs)
    return {"n": n, "cases": pairs[:NAMED], "more": max(0, n - NAMED), "listed": n - others}


def view_query(values: Mapping[str, str]) -> str:
    """Return the choices of a view as they stand in an address of the page: ``metric=accuracy&system=react``."""
    return "&".join(
        f"{quote(name, safe='')}={quote(value.encode('utf-8', 'replace'), safe='')}" for name, value in values.items()
    )
