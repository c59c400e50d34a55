"""``rageval index``: the index of the ini's retriever, built ahead of the tests; what is kept; what is not used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from pytest_rageval.errors import ascii_safe
from pytest_rageval.hooks.index_command import Kept, build_index, kept_indexes, prune_indexes
from pytest_rageval.retrieval.index_store import FACTS, StoredIndex, name_of

__all__ = ["build", "info", "prune"]

APART = ("kind", "corpus")
"""What an index is made of beside settings and versions."""


def build() -> Iterator[str]:
    """Build the index that the ini's retriever keeps on disk, and yield the lines that tell of it.

    Raises:
        RagEvalError: the ini names no corpus, or its corpus or its retriever cannot be used.
    """
    built = build_index()
    yield f"{built.retriever} over {built.passages:,} passages, in {built.seconds:.1f} s"
    for index in built.indexes:
        how = f"built in {index.build_s:.1f} s" if index.built else "there already"
        yield f"{index.folder}: {how}, {_size(index.disk_bytes)}"
    if not built.indexes:
        yield "Nothing is kept on disk: each run makes it anew."


def info(*, as_json: bool) -> Iterator[str]:
    """Yield the lines that list the indexes of the project, or one JSON text.

    Raises:
        RagEvalError: pytest cannot read the ini.
    """
    kept = kept_indexes()
    rows = [_row(name, index, kept) for name, index in kept.indexes.items()]
    if as_json:
        told = {"folder": str(kept.folder), "indexes": rows, "used": kept.used, "problem": kept.problem or None}
        yield json.dumps(told, indent=1)
        return
    yield from _listed(rows)
    missing = [name for name in kept.used if name not in kept.indexes]
    if missing:
        yield f"The ini asks for {missing[0]}, which is not there yet; rageval index build makes it."
    elif kept.problem and not any(row["used"] for row in rows):
        yield f"The ini cannot be used: {kept.problem}"
    elif not kept.used:
        yield "The ini's retriever keeps nothing on disk."


def prune() -> Iterator[str]:
    """Remove the indexes that the ini's retriever does not use, and yield the lines that name them.

    Raises:
        RagEvalError: it cannot be told which it uses, or one cannot be removed.
    """
    removed = prune_indexes()
    for name, size in removed.items():
        yield f"{name}: {size:,} bytes"
    count = "1 index" if len(removed) == 1 else f"{len(removed)} indexes"
    yield f"Removed {count} that the ini does not use, {sum(removed.values()):,} bytes."


def _row(name: str, index: StoredIndex | str, kept: Kept) -> dict[str, Any]:
    """Return what there is to tell of an index, as JSON."""
    row: dict[str, Any] = {"name": name, "used": name in kept.used}
    if isinstance(index, str):
        return {**row, "problem": index}
    settings = {key: value for key, value in index.made_of.items() if key not in APART}
    built = datetime.fromtimestamp((index.folder / FACTS).stat().st_mtime, timezone.utc)
    return {
        **row,
        "kind": index.made_of["kind"],
        "passages": index.facts.get("passages"),
        "settings": settings,
        "disk_bytes": index.disk_bytes,
        "build_s": index.build_s,
        "built": built.isoformat(timespec="seconds"),
        "problem": None,
    }


def _listed(rows: list[dict[str, Any]]) -> Iterator[str]:
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
        yield "  " + " ".join(f"{key}={_shown(value)}" for key, value in sorted(row["settings"].items()))


def _shown(value: Any) -> str:
    """Return a setting in short: of an index that another is made of its name, of a digest its beginning."""
    text = name_of(value) if isinstance(value, dict) and "kind" in value else ascii_safe(str(value))
    return text if len(text) <= 32 else f"{text[:16]}..."


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
