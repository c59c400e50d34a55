"""Declare a section of the summary once for terminal, Markdown, page and results.json."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from pytest_rageval.model.derived_codec import decoder, encoder
from pytest_rageval.registry import Registry
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections import BUILTIN
from pytest_rageval.report.text.lines import Line

__all__ = ["Screen", "Section", "Table", "TerminalSection", "all_sections", "encode_sections", "table_sections"]

Row = TypeVar("Row")


class Table(NamedTuple):
    """A table as text.

    Attributes:
        title: the line that the terminal prints above the table.
        columns: the columns, each with its head first; the first column has the labels of the rows.
        notes: lines below the table.
    """

    title: str
    columns: Sequence[Sequence[str]]
    notes: Sequence[Line] = ()

    @property
    def heading(self) -> str:
        """The title with a capital letter, for Markdown and the page."""
        return self.title[0].upper() + self.title[1:]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The rows; the first one is the head."""
        return list(zip(*self.columns, strict=True))


class Screen(NamedTuple):
    """How the summary is printed.

    Attributes:
        choice: the matrix to show.
        width: columns of the terminal.
        verbosity: pytest's verbosity: 1 is ``-v``, -1 is ``-q``.
    """

    choice: MatrixChoice
    width: int
    verbosity: int

    def shows(self, section: Section[Any] | TerminalSection) -> bool:
        """Return whether a section is printed."""
        is_requested = self.verbosity >= 0 and section.requested is not None and section.requested(self)
        return is_requested or self.verbosity >= section.verbosity


@dataclass(frozen=True, slots=True)
class TerminalSection:
    """A section of the terminal's summary that is not only a table; other reports have their own code for it.

    Attributes:
        lines: return the lines of a run.
        verbosity: the smallest verbosity of pytest that prints it: 1 is ``-v``.
        requested: return whether an option asks for the section; it is then printed without ``-v`` too.
    """

    lines: Callable[[Run, Screen], Iterable[Line]]
    verbosity: float = 1
    requested: Callable[[Screen], bool] | None = None


@dataclass(frozen=True, slots=True)
class Section(Generic[Row]):
    """A section of the summary: all reports show its tables, and results.json stores its rows.

    Attributes:
        name: its key in results.json.
        row: a frozen dataclass; its fields are builtins unless ``encode`` and ``decode`` are set.
        compute: return the rows of a run; without rows the section is left out. It may only read data that results.json
            stores, because `rageval show` has nothing else. No text of the data or the answers may enter a row.
        tables: return rows as tables; the second argument is node id -> testbed.
        encode: return all rows as builtins, for ``sections`` as a list of objects; None encodes the fields of ``row``.
        decode: return the rows from the encoded ones; None decodes the fields of ``row``.
        shown_for: return whether a testbed needs the section; a run without such a testbed only stores it. None shows
            it for every run.
        verbosity: the smallest verbosity of pytest that prints it: 1 is ``-v``, 0 leaves it out with ``-q``.
        requested: return whether an option asks for the section; it is then printed without ``-v`` too.
        in_markdown: whether the Markdown report shows the section.
        on_page: whether the HTML page shows the section.
        top_level: whether the section is a top-level key of results.json, which the schema describes, and not part of
            ``sections``.
    """

    name: str
    row: type[Row]
    compute: Callable[[Run], Sequence[Row]]
    tables: Callable[[Sequence[Row], Mapping[str, TestbedPlan]], Iterable[Table]]
    encode: Callable[[Sequence[Row]], Any] | None = None
    decode: Callable[[Any], Sequence[Row]] | None = None
    shown_for: Callable[[TestbedPlan], bool] | None = None
    verbosity: float = 1
    requested: Callable[[Screen], bool] | None = None
    in_markdown: bool = True
    on_page: bool = True
    top_level: bool = False

    def tables_of(self, run: Run) -> Iterator[Table]:
        """Yield the tables of a run."""
        testbeds = run.plan.testbeds
        is_shown = self.shown_for is None or any(map(self.shown_for, testbeds.values()))
        rows = self.compute(run) if is_shown else ()
        if rows:
            yield from self.tables(rows, testbeds)

    def encode_rows(self, rows: Sequence[Row]) -> Any:
        """Return rows as builtins for results.json."""
        if self.encode is not None:
            return self.encode(rows)
        row_class: type = self.row
        encode = encoder(row_class)
        return [encode(row) for row in rows]

    def read_rows(self, results: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows in a results.json; empty if it has none."""
        plain = (results if self.top_level else results.get("sections", {})).get(self.name)
        if plain is None:
            return []
        if self.decode is not None:
            return self.decode(plain)
        row_class: type = self.row
        decode = decoder(row_class)
        return [decode(each) for each in plain]


_SECTIONS: Registry[Section[Any] | TerminalSection] = Registry("section", BUILTIN)


def all_sections() -> list[Section[Any] | TerminalSection]:
    """Return all sections, in the order of the summary."""
    return [_SECTIONS.get(name) for name in BUILTIN]


def table_sections() -> list[Section[Any]]:
    """Return the sections of tables, in the order of the summary."""
    return [each for each in all_sections() if isinstance(each, Section)]


def encode_sections(run: Run) -> dict[str, Any]:
    """Return key in results.json -> the encoded rows of a section, without empty sections."""
    top_level: dict[str, Any] = {}
    nested: dict[str, Any] = {}
    for section in table_sections():
        rows = section.compute(run)
        if rows:
            (top_level if section.top_level else nested)[section.name] = section.encode_rows(rows)
    return top_level | ({"sections": nested} if nested else {})
