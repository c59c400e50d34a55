"""Declare a section of the summary once, for the terminal, Markdown, the page and results.json."""

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
        title: what the terminal prints above it.
        columns: the columns with their heads; the first one has the labels of the rows.
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
        """The rows, the head first."""
        return list(zip(*self.columns, strict=True))


class Screen(NamedTuple):
    """Where the summary is printed: the chosen matrix, columns of the terminal, pytest's verbosity."""

    choice: MatrixChoice
    width: int
    verbosity: int

    def shows(self, section: Section[Any] | TerminalSection) -> bool:
        """Return whether a part of the summary is printed."""
        asked = self.verbosity >= 0 and section.requested is not None and section.requested(self)
        return asked or self.verbosity >= section.verbosity


@dataclass(frozen=True, slots=True)
class TerminalSection:
    """A part of the terminal's summary that is no table; the other reports have their own code for it.

    Attributes:
        lines: yield its lines.
        verbosity: the smallest verbosity of pytest that prints it: 1 is ``-v``.
        requested: whether an option asks for it; it is then printed without ``-v`` too.
    """

    lines: Callable[[Run, Screen], Iterable[Line]]
    verbosity: float = 1
    requested: Callable[[Screen], bool] | None = None


@dataclass(frozen=True, slots=True)
class Section(Generic[Row]):
    """A section of the summary: all reports show its tables, and results.json stores its rows.

    Attributes:
        name: its key in results.json.
        row: a frozen dataclass, whose fields are builtins unless ``encode`` and ``decode`` are given.
        compute: return the rows of a run; a run without rows has no such section. It only reads what results.json has
            of a run, as `rageval show` has no more. It puts no text of the data or the answers into a row.
        tables: return rows as tables; the second argument is the run's testbeds by node id.
        encode: return all rows as builtins, in ``sections`` as a list of objects; None for objects with the fields of
            ``row``.
        decode: return the rows that were encoded; None for such objects.
        shown_for: only a run with such a testbed shows the section; others only store it. None for every run.
        verbosity: the smallest verbosity of pytest that prints it: 1 is ``-v``, 0 leaves it out with ``-q``.
        requested: whether an option asks for it; it is then printed without ``-v`` too.
        in_markdown: whether the Markdown report has it.
        on_page: whether the HTML page has it.
        top_level: whether results.json has it as a key of its own, which the schema describes, not in ``sections``.
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

    def encoded(self, rows: Sequence[Row]) -> Any:
        """Return rows as results.json has them."""
        if self.encode is not None:
            return self.encode(rows)
        row_class: type = self.row
        encode = encoder(row_class)
        return [encode(row) for row in rows]

    def stored(self, results: Mapping[str, Any]) -> Sequence[Row]:
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
    """Return all parts of the summary, in its order."""
    return [_SECTIONS.get(name) for name in BUILTIN]


def table_sections() -> list[Section[Any]]:
    """Return the sections that are declared as tables, in order."""
    return [each for each in all_sections() if isinstance(each, Section)]


def encode_sections(run: Run) -> dict[str, Any]:
    """Return the sections of a run by their keys in results.json, without empty ones."""
    own: dict[str, Any] = {}
    further: dict[str, Any] = {}
    for section in table_sections():
        rows = section.compute(run)
        if rows:
            (own if section.top_level else further)[section.name] = section.encoded(rows)
    return own | ({"sections": further} if further else {})
