"""Load the inputs of a plan: rows of tables, chunks of documents, and the digests of their files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from pytest_rageval.datasets.source import read_bytes
from pytest_rageval.generation.documents.loading import corpus_files, load_chunks
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.loading import load_tables
from pytest_rageval.generation.tables.table_settings import table_settings

__all__ = ["load_material"]


def load_material(plan: Plan, out: Path | None) -> Material:
    """Return the material of a plan, with all rows of its tables and all chunks of its documents.

    Raises:
        DataError: a file cannot be read, or a column is unknown.
    """
    warnings: list[str] = []
    tables = load_tables(plan, warnings)
    paths = [*(each.path for each in table_settings(plan)), *(place.path for place in corpus_files(plan))]
    digests = {
        Path(os.path.relpath(path, plan.folder)).as_posix(): hashlib.sha256(read_bytes(path)).hexdigest()
        for path in paths
    }
    chunks = load_chunks(plan)
    return Material(plan=plan, tables=tables, out=out or Path(), chunks=chunks, warnings=warnings, digests=digests)
