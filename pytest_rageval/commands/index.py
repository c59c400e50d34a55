"""``rageval index``: build the index of the ini's retriever; list and remove indexes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from pytest_rageval.errors import ascii_safe
from pytest_rageval.hooks.index_command import StoredIndexes, build_index, prune_indexes, stored_indexes
from pytest_rageval.retrieval.index_store import FACTS, StoredIndex, name_of

__all__ = ["build", "info", "prune"]

NOT_SETTINGS = ("kind", "corpus")
"""Keys in the description of an index that are not printed as settings."""


def build() -> Iterator[str]:
    """Build the index of the ini's retriever, and yield the lines of the report.

    Raises:
        RagEvalError: the ini has no corpus, or its corpus or retriever is invalid.
    """
    report = build_index()
    yield f"{report.retriever} over {report.passages:,} passages, in {report.seconds:.1f} s"
    for index in report.indexes:
        how = f"built in {index.build_s:.1f} s" if index.built else "already built"
        yield f"{index.folder}: {how}, {_size(index.disk_bytes)}"
    if not report.indexes:
        yield "Nothing is stored on disk: each run builds its index again."


def info(*, as_json: bool) -> Iterator[str]:
    """Yield the lines that list the indexes of the project, or one JSON text.

    Raises:
        RagEvalError: pytest cannot read the ini.
    """
    stored = stored_indexes()
    rows = [_row(name, index, stored) for name, index in stored.indexes.items()]
    if as_json:
        plain = {"folder": str(stored.folder), "indexes": rows, "used": stored.used, "problem": stored.problem or None}
        yield json.dumps(plain, indent=1)
        return
    yield from _index_lines(rows)
    missing = [name for name in stored.used if name not in stored.indexes]
    if missing:
        yield f"The ini needs {missing[0]}, which is missing; build it with rageval index build."
    elif stored.problem and not any(row["used"] for row in rows):
        yield f"The ini cannot be used: {stored.problem}"
    elif not stored.used:
        yield "The ini's retriever stores nothing on disk."


def prune(*, dry_run: bool) -> Iterator[str]:
    """Remove the indexes that the ini's retriever does not use, and yield their names; ``dry_run`` only lists them.

    Raises:
        RagEvalError: the used index is unknown, or an index cannot be removed.
    """
    removed = prune_indexes(dry_run=dry_run)
    for name, size in removed.items():
        yield f"{name}: {size:,} bytes"
    count = "1 index" if len(removed) == 1 else f"{len(removed)} indexes"
    what = f"{count} that the ini does not use, {sum(removed.values()):,} bytes"
    yield f"{'Would remove' if dry_run else 'Removed'} {what}."


def _row(name: str, index: StoredIndex | str, stored: StoredIndexes) -> dict[str, Any]:
    """Return an index as a JSON object; ``index`` is text if it cannot be read, and says why."""
    row: dict[str, Any] = {"name": name, "used": name in stored.used}
    if isinstance(index, str):
        return {**row, "problem": index}
    settings = {name: value for name, value in index.key.items() if name not in NOT_SETTINGS}
    build_time = datetime.fromtimestamp((index.folder / FACTS).stat().st_mtime, timezone.utc)
    return {
        **row,
        "kind": index.key["kind"],
        "passages": index.facts.get("passages"),
        "settings": settings,
        "disk_bytes": index.disk_bytes,
        "build_s": index.build_s,
        "built": build_time.isoformat(timespec="seconds"),
        "problem": None,
    }


def _index_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "There is no index."
        return
    width = max(len(row["name"]) for row in rows)
    yield f"{'index':{width}}  used    passages        size  built"
    for row in rows:
        head = f"{row['name']:{width}}  {'yes' if row['used'] else 'no':4}"
        if row["problem"]:
            yield f"{head}  {row['problem']}"
            continue
        passages = "?" if row["passages"] is None else f"{row['passages']:,}"
        yield f"{head}  {passages:>10}  {_size(row['disk_bytes']):>10}  {row['built']}"
        yield "  " + " ".join(f"{key}={_short(value)}" for key, value in sorted(row["settings"].items()))


def _short(value: Any) -> str:
    """Return a setting's value as a short text: the name of another index, or a text cut after 32 characters."""
    text = name_of(value) if isinstance(value, dict) and "kind" in value else ascii_safe(str(value))
    return text if len(text) <= 32 else f"{text[:16]}..."


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
