"""Print the summary after the session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections.section import Screen, Section, TerminalSection, all_sections
from pytest_rageval.report.terminal.account_block import SessionFacts, account_lines
from pytest_rageval.report.text.lines import Line, wrap
from pytest_rageval.report.text.tables import table

__all__ = ["section_lines", "summary_lines", "written_lines"]


def summary_lines(
    run: Run, choice: MatrixChoice, width: int, verbosity: int, facts: SessionFacts | None = None
) -> Iterator[Line]:
    """Yield the lines of `section_lines`, then those of `account_lines`."""
    sections = list(section_lines(run, choice, width, verbosity))
    yield from sections
    yield from (Line(""),) if sections else ()
    yield from account_lines(run, facts or SessionFacts(), width, verbosity)


def section_lines(run: Run, choice: MatrixChoice, width: int, verbosity: int) -> Iterator[Line]:
    """Yield the sections, which come before the account: warnings; with ``-v`` also counts, matrices, gates and others.

    Args:
        run: the run, with evaluated gates.
        choice: the matrix to show.
        width: columns of the terminal.
        verbosity: pytest's verbosity. 1 prints all sections, 0 those that an option asks for, -1 only warnings.
    """
    screen = Screen(choice, width, verbosity)
    for section in all_sections():
        if screen.shows(section):
            for line in (
                section.lines(run, screen) if isinstance(section, TerminalSection) else _tables(section, run, width)
            ):
                yield from (line,) if line.marks else wrap(line, width)


def _tables(section: Section[Any], run: Run, width: int) -> Iterator[Line]:
    for each in section.tables_of(run):
        yield Line("")
        yield Line(each.title)
        yield from table(each.columns[0], each.columns[1:], width)
        yield from (note._replace(text=ascii_safe(note.text)) for note in each.notes)


def written_lines(paths: Sequence[Path], here: Path, width: int) -> Iterator[Line]:
    """Yield the paths of written reports, relative to ``here`` if they are below it."""
    shown = [ascii_safe(str(path.relative_to(here) if path.is_relative_to(here) else path)) for path in paths]
    text = f"written: {', '.join(shown)}"
    if shown and len(text) <= width:
        yield Line(text)
    else:
        yield from (Line(f"written: {each}") for each in shown)
