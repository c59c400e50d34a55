"""Convert the summary's sections to tables of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_rageval.report.files.plan_json import decode_plan_without_cases
from pytest_rageval.report.sections.section import table_sections

__all__ = ["Overview", "overviews_of"]


class Overview(NamedTuple):
    """A table with title and notes; its first row is the head, and each row begins with a label."""

    title: str
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]


def overviews_of(results: Mapping[str, Any]) -> Iterator[Overview]:
    """Yield the tables of the sections that a results.json has."""
    testbeds = decode_plan_without_cases(results).testbeds
    for section in table_sections():
        rows = section.read_rows(results) if section.on_page else ()
        for table in section.tables(rows, testbeds) if rows else ():
            yield Overview(table.heading, table.rows, [note.text for note in table.notes])
