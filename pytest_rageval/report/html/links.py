"""Make sentences with links to cases, lists of cases, and addresses within the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from pytest_rageval.report.html.visible_text import case_fragment

__all__ = ["Cases", "Piece", "Sentence", "case_list", "view_query"]

MAX_LISTED = 200
"""Maximum number of cases in a list; the page only counts the others."""


class Piece(NamedTuple):
    """A piece of a sentence; ``to`` is the address within the page that it links to, or ""."""

    text: str
    to: str = ""


Sentence = list[Piece]


class Cases:
    """The cases that the page can open, by node id.

    Args:
        columns: the result of `columns.columns_of`.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._rows = {nodeid: row for row, nodeid in enumerate(columns["nodeid"])}
        self._ids = columns["case"]

    def __contains__(self, nodeid: str) -> bool:
        return nodeid in self._rows

    def case_id(self, nodeid: str) -> str:
        """Return the id of a case; if the node id has no case, return the node id without its file."""
        if nodeid in self._rows:
            name: str = self._ids["values"][self._ids["codes"][self._rows[nodeid]]]
            return name
        return nodeid.partition("::")[2] or nodeid

    def link_names(self, names: Sequence[tuple[str, str]], limit: int, rest: str) -> Iterator[Piece]:
        """Yield names separated by commas; names of cases are links.

        Args:
            names: (name, node id) pairs.
            limit: how many names to show, followed by the number of the rest.
            rest: the address of the full list.
        """
        for at, (name, nodeid) in enumerate(names[:limit]):
            if at:
                yield Piece(", ")
            yield Piece(name, case_fragment(nodeid) if nodeid in self else "")
        if len(names) > limit:
            yield Piece(" and ")
            yield Piece(f"{len(names) - limit:,} more", rest)

    def by_id(self, nodeids: Iterable[str]) -> list[tuple[str, str]]:
        """Return (case id, node id) pairs; a case with several settings appears once, with its first node id."""
        first: dict[str, str] = {}
        for nodeid in nodeids:
            first.setdefault(self.case_id(nodeid), nodeid)
        return list(first.items())


def case_list(pairs: Sequence[tuple[str, str]], others: int = 0) -> dict[str, Any]:
    """Return the first pairs as ``cases``, and three numbers.

    ``n`` counts all pairs, ``more`` those left out, and ``listed`` those whose node id is a case of the page.

    Args:
        pairs: (node id, detail) pairs.
        others: number of pairs whose node id is not a case of the page.
    """
    n = len(pairs)
    return {"n": n, "cases": pairs[:MAX_LISTED], "more": max(0, n - MAX_LISTED), "listed": n - others}


def view_query(values: Mapping[str, str]) -> str:
    """Encode the choices of a view for an address of the page: ``metric=accuracy&system=react``."""
    return "&".join(
        f"{quote(name, safe='')}={quote(value.encode('utf-8', 'replace'), safe='')}" for name, value in values.items()
    )
