"""The output folder: refuse the folder of another plan, write all files at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pytest_rageval.datasets.source import read_object, shown_path
from pytest_rageval.errors import DataError, SettingError, short_repr
from pytest_rageval.folders import atomic_files
from pytest_rageval.generation.abilities.stage import KINDS, with_abilities
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.output.manifest import SCHEMA, manifest_of
from pytest_rageval.generation.output.records import draft_line, json_line, record_of
from pytest_rageval.generation.output.report import report_of
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.split import Sets, SplitSettings, split_settings
from pytest_rageval.generation.tables.table import Table
from pytest_rageval.model.case import Passage

__all__ = ["DRAFTS", "GENERATED_FILES", "claim_folder", "stored_split", "stored_usage", "write_folder"]

DRAFTS, MANIFEST, REPORT, CORPUS = "drafts.jsonl", "manifest.json", "report.md", "corpus.jsonl"
GENERATED_SETS, PEOPLE = ("auto_test", "auto_train"), "human_test"
SETS = (*GENERATED_SETS, PEOPLE, *(f"{name}.{kind}" for name in GENERATED_SETS for kind in KINDS))
GENERATED_FILES = (DRAFTS, MANIFEST, REPORT, CORPUS, *(f"{name}.jsonl" for name in SETS))


def claim_folder(out: Path, plan: Plan, tables: Iterable[Table] = (), *, force: bool) -> bool:
    """Return whether the folder holds files of this plan; create it if it is missing.

    Args:
        out: the folder.
        plan: the plan.
        tables: its tables; tables of a world are written to files.
        force: whether to overwrite files of another plan.

    Raises:
        SettingError: the folder holds files of another plan and ``force`` is False, or cannot be created.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"--out {shown_path(out)}: cannot be created ({error.strerror}); name a folder") from None
    if _plan_digest(out / MANIFEST) == plan.digest:
        return True
    output_files = (*GENERATED_FILES, *(table.file for table in tables if table.file))
    existing = [name for name in output_files if (out / name).exists()]
    if existing and not force:
        problem = (
            f"--out {shown_path(out)} holds {existing[0]}, which another plan or an earlier text of this plan made"
        )
        raise SettingError(f"{problem}; name another folder, or write --force to replace its files")
    return False


def stored_usage(out: Path) -> dict[str, float]:
    """Return the model usage in the manifest of a folder; {} if it has none."""
    path = out / MANIFEST
    try:
        usage = read_object(path).get("usage") if path.exists() else None
    except DataError:
        return {}
    return usage if isinstance(usage, dict) else {}


def stored_split(out: Path) -> tuple[SplitSettings, int]:
    """Return the split settings and the seed in the manifest of a folder.

    Raises:
        SettingError: the manifest is missing, or of another version.
        DataError: the manifest is malformed.
    """
    path = out / MANIFEST
    advice = "run rageval generate PLAN.toml --out FOLDER again"
    if not path.exists():
        raise SettingError(f"{shown_path(path)} is missing; {advice}")
    values = read_object(path)
    schema, split, seed = (values.get(key) for key in ("schema", "split", "seed"))
    if schema != SCHEMA:
        difference = f"found schema {short_repr(schema)}, wanted {SCHEMA}"
        raise SettingError(f"{shown_path(path)} is of another version of pytest-rageval: {difference}; {advice}")
    shares = {name: split.get(name) for name in GENERATED_SETS} if isinstance(split, dict) else {}
    n = split.get("human_per_cell") if isinstance(split, dict) else None
    valid_shares = {name: share for name, share in shares.items() if isinstance(share, float)}
    if not isinstance(seed, int) or not isinstance(n, int) or len(valid_shares) != len(GENERATED_SETS):
        raise SettingError(f"{shown_path(path)} is of another version of pytest-rageval: it has no split; {advice}")
    return SplitSettings(valid_shares, n), seed


def _plan_digest(path: Path) -> object:
    try:
        return read_object(path).get("plan") if path.exists() else None
    except DataError:
        return None


def write_folder(out: Path, material: Material, drafts: Sequence[Draft], sets: Sets) -> dict[str, int]:
    """Write all files atomically and return the number of lines of each data file.

    An empty dataset is not written, because no reader accepts it.

    Raises:
        SettingError: a file cannot be written.
    """
    in_order = sorted(drafts, key=lambda draft: (draft.id, draft.state != "kept", draft.origin))
    passages = [row.passage for table in material.tables.values() for row in table.rows] + [*material.corpus]
    corpus = [_corpus_line(each) for each in passages]
    generated_tables = [table for table in material.tables.values() if table.file]
    shares = split_settings(material.plan).shares
    set_names = [name for name in GENERATED_SETS if shares.get(name) or getattr(sets, name)]
    kept_records = {name: [*map(record_of, getattr(sets, name))] for name in set_names}
    known_records = {name: [*map(record_of, drafts)] for name, drafts in sets.known.items()}
    records = with_abilities(kept_records, known_records, material)
    records[PEOPLE] = [*map(record_of, sets.human_test)]
    texts = {
        DRAFTS: _lines(map(draft_line, in_order)),
        **{f"{name}.jsonl": _lines(records.get(name, ())) for name in SETS},
        CORPUS: _lines(corpus),
        **{table.file: _lines(dict(row.values) for row in table.rows) for table in generated_tables},
        MANIFEST: json.dumps(manifest_of(material, drafts, sets), ensure_ascii=False, indent=1) + "\n",
        REPORT: report_of(material, drafts, sets),
    }
    non_empty = {out / name: text for name, text in texts.items() if text}
    try:
        with atomic_files(*non_empty) as parts:
            for part, text in zip(parts, non_empty.values(), strict=True):
                part.write_bytes(text.encode("utf-8", "surrogatepass"))
        for name in texts:
            if out / name not in non_empty:
                (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise SettingError(f"--out {shown_path(out)}: cannot be written ({error.strerror})") from None
    rows_of_tables = {table.file: len(table.rows) for table in generated_tables}
    return {CORPUS: len(corpus)} | rows_of_tables | {f"{name}.jsonl": len(each) for name, each in records.items()}


def _corpus_line(passage: Passage) -> dict[str, Any]:
    page = {"page": passage.page} if passage.page and passage.page != passage.id else {}
    return {"id": passage.id, "text": passage.text, "title": passage.title, **page}


def _lines(values: Iterable[dict[str, Any]]) -> str:
    return "".join(map(json_line, values))
