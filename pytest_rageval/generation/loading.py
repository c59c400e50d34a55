"""Load the inputs of a plan: rows of its tables, its documents, and digests of the files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from pytest_rageval.datasets.source import read_bytes
from pytest_rageval.errors import DataError
from pytest_rageval.generation.corpus import corpus_digests, corpus_passages, without_files
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.settings import check_model, prompt_digests
from pytest_rageval.generation.output.folder import GENERATED_FILES
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.loading import load_tables
from pytest_rageval.generation.tables.table_settings import table_settings
from pytest_rageval.generation.templates.template import templates_of

__all__ = ["load_material"]


def load_material(plan: Plan, out: Path | None) -> Material:
    """Load all rows of a plan's tables and all passages of its documents.

    Files that an earlier call wrote to ``out`` are not documents, even if a glob of the plan matches them.

    Raises:
        DataError: a file cannot be read, a column is unknown, or there is neither a table nor a document.
    """
    warnings: list[str] = []
    check_model(plan)
    plan = plan if out is None else without_files(plan, out, GENERATED_FILES)
    tables, corpus = load_tables(plan, warnings), tuple(corpus_passages(plan))
    if not tables and not corpus:
        problem = "there is nothing to generate from; add a [[table]] with a [[template]], or a [[corpus]]"
        raise DataError(plan.file_name, problem)
    if not corpus and not templates_of(plan):
        warnings.append(f"{plan.file_name}: without [[template]] and [[corpus]], no case is made")
    files = {Path(os.path.relpath(each.path, plan.folder)).as_posix(): each.path for each in table_settings(plan)}
    digests = {name: hashlib.sha256(read_bytes(path)).hexdigest() for name, path in files.items()}
    return Material(
        plan=plan,
        tables=tables,
        out=out or Path(),
        corpus=corpus,
        warnings=warnings,
        digests=digests | corpus_digests(plan) | prompt_digests(plan),
    )
