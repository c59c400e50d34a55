"""Read the ``[[table]]`` of a plan: the file with rows, the key, passage and topic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_rageval.generation.plan import Plan, SectionReader
from pytest_rageval.generation.section import Section

__all__ = ["READER", "TableSettings", "table_settings"]

KEYS = ("key", "name", "passage", "path", "topic")
SQLITE = "sqlite:"


@dataclass(frozen=True, slots=True)
class TableSettings:
    """One ``[[table]]``.

    Attributes:
        section: the table of the plan, for messages.
        name: its name in templates.
        path: the file.
        query: the SELECT of an SQLite database; "" for a file of rows.
        passage: the template of a row's text; "" for all its values.
        key: the column with the key of a row; "" for the column ``id``, or the first column without one.
        topic: the template of a row's topic; "" for the table's name.
    """

    section: Section
    name: str
    path: Path
    query: str
    passage: str
    key: str
    topic: str


def table_settings(plan: Plan) -> tuple[TableSettings, ...]:
    """Return each ``[[table]]`` of a plan."""
    return cast("tuple[TableSettings, ...]", plan.settings["table"])


def _read(sections: tuple[Section, ...], folder: Path) -> tuple[TableSettings, ...]:
    tables: dict[str, TableSettings] = {}
    for section in sections:
        section.only(KEYS)
        path, query = _place(section, folder)
        name = section.text("name", path.stem)
        if name in tables:
            raise section.error("name", f"two tables are named {name!r}; rename one")
        passage, key, topic = (section.text(each, "") for each in ("passage", "key", "topic"))
        tables[name] = TableSettings(section, name, path, query, passage, key, topic)
    return tuple(tables.values())


def _place(section: Section, folder: Path) -> tuple[Path, str]:
    """Parse ``path`` as a file and a query."""
    text, query = section.text("path"), ""
    if text.startswith(SQLITE):
        text, _, query = text.removeprefix(SQLITE).partition(":")
        if not text.strip() or not query.strip():
            raise section.error("path", "path: write sqlite:FILE:SELECT ..., with a file and a query")
    path = folder / text
    if not path.exists():
        raise section.error("path", f"path: no file {text!r}; a path is relative to the plan")
    return path, query.strip()


READER = SectionReader(many=True, read=_read)
