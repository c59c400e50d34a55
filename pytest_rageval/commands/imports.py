"""``rageval import``: convert other tools' files to datasets, answers, scores and chains."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.datasets import imports, jsonl
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.recorded import load_recorded
from pytest_rageval.datasets.source import JsonObject, read_records, shown_path
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.folders import atomic_files
from pytest_rageval.registry import Registry
from pytest_rageval.report.text.lines import counted

__all__ = ["import_files", "remarks"]

SAMPLES = ("deepeval", "jsonl", "ragas", "table")
"""The formats whose rows have a question and its answers."""

CHAIN = "ralle-chain"
"""The format whose files become a chain instead of rows."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A file to write.

    Attributes:
        path: its path.
        summary: its content in a few words, such as "6 cases of 8 rows".
        lines: its lines.
        load: the function that reads such a file, to check the written one.
    """

    path: Path
    summary: str
    lines: Iterable[str]
    load: Callable[[Path], object]


def import_files(form: str, request: ImportRequest, out: Path | None, *, force: bool) -> Generator[str, None, int]:
    """Import files, yield the lines to print, and return the exit status.

    The status is 1 if rows or needed fields were left out, which lines with ``left:`` report, else 0.

    Args:
        form: the name of the importer.
        request: the sources and options of the import.
        out: the file to write; recorded answers go to a second file, ``NAME.answers.jsonl``. None is cases.jsonl,
            scores.jsonl for scores, or the source's name with .toml for a chain, in the current folder.
        force: overwrite existing files.

    Raises:
        RagEvalError: nothing could be imported or written; no file changes.
    """
    importers: Registry[imports.Importer] = Registry("format to import", imports.BUILTIN)
    if request.cases is not None and form != "omnieval-results":
        raise SettingError(f"--cases FILE is for omnieval-results, not for {form}; leave it out")
    if (request.slots or request.content_ids) and form not in SAMPLES:
        option = "--slots" if request.slots else "--ids content"
        raise SettingError(f"{option} is for {', '.join(SAMPLES)}, not for {form}; leave it out")
    if (request.id_attribute or request.failed) and form != "otel":
        option = "--id-attribute" if request.id_attribute else "--failed"
        raise SettingError(f"{option} is for otel, not for {form}; leave it out")
    imported = ImportResult()
    _check_chain(form, request)
    with doing(f"reading {', '.join(map(shown_path, request.paths))}"):
        importers.get(form)(request, imported)
    if not imported.cases and not imported.scores and not imported.chain:
        first = ": ".join(imported.skipped[0]) if imported.skipped else "the sources have no row"
        problem = f"nothing was written: none of {imported.rows} rows could be imported"
        raise SettingError(f"{problem}; the first: {first}")
    targets = _targets(imported, out, request)
    for target in targets:
        _check_free(target.path, request, force=force)
    _write(targets)
    for target in targets:
        yield f"{target.summary} -> {shown_path(target.path)}"
    yield from remarks(imported)
    return int(imported.lost)


def _check_chain(form: str, request: ImportRequest) -> None:
    if form == CHAIN and request.system:
        raise SettingError(f"--system is for recorded answers, not for {CHAIN}; leave it out")


def _targets(imported: ImportResult, out: Path | None, request: ImportRequest) -> list[_Target]:
    """Return the files to write."""
    if imported.chain:
        from pytest_rageval.systems.chains.chain_file import read_chain

        path = out or Path(f"{request.paths[0].stem}.toml")
        load = partial(read_chain, file_name=f"{shown_path(request.paths[0])} as a chain")
        return [_Target(path, counted(imported.rows, "action"), [imported.chain], load)]
    if imported.scores:
        return [_rows_target("scores", out or Path("scores.jsonl"), imported.scores, imported.rows, read_records)]
    path = out or Path("cases.jsonl")
    targets = [_rows_target("cases", path, imported.cases, imported.rows, jsonl.load)]
    if imported.answers:
        answers_path = path.with_name(f"{path.stem}.answers.jsonl")
        targets.append(_rows_target("answers", answers_path, imported.answers, imported.rows, load_recorded))
    return targets


def _rows_target(
    what: str, path: Path, rows: list[JsonObject], n_source_rows: int, load: Callable[[Path], object]
) -> _Target:
    """Return a file of JSON Lines with one line for each row."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return _Target(path, f"{len(rows)} {what} of {n_source_rows} rows", lines, load)


def _check_free(path: Path, request: ImportRequest, *, force: bool) -> None:
    """Raise `SettingError` if writing ``path`` would overwrite a source, or another file without ``force``."""
    if any(path.absolute() == source.absolute() for source in (*request.paths, request.cases) if source):
        raise SettingError(f"{shown_path(path)} is a source of the import; name another file with --out")
    if path.exists() and not force:
        raise SettingError(f"{shown_path(path)} already exists; name another file with --out, or add --force")


def _write(targets: list[_Target]) -> None:
    """Write each file to a temporary path, check that it can be read, then move all of them into place."""
    try:
        with atomic_files(*(target.path for target in targets)) as parts:
            for part, target in zip(parts, targets, strict=True):
                with (
                    doing(f"writing {shown_path(target.path)}"),
                    part.open("w", encoding="utf-8", newline="\n") as stream,
                ):
                    stream.writelines(target.lines)
                with doing(f"checking {shown_path(target.path)}"):
                    target.load(part)
    except OSError as error:
        raise SettingError(
            f"{shown_path(targets[0].path)} cannot be written: {error.strerror or error}", code="RAG212"
        ) from None


def remarks(imported: ImportResult) -> Iterator[str]:
    """Yield lines with the notes of an import, its scores without a value, and what was left out."""
    yield from map(ascii_safe, imported.notes)
    unscored = Counter((str(row["metric"]), row["reason"]) for row in imported.scores if "reason" in row)
    for (metric, reason), count in unscored.items():
        yield f"{ascii_safe(metric)}: {count} without a value, {reason}"
    for name, count in sorted(imported.fields.items(), key=lambda item: (item[0] in imported.unneeded, item[0])):
        yield f"{'not needed' if name in imported.unneeded else 'left'}: {ascii_safe(name)} ({count})"
    for where, why in imported.skipped:
        yield f"left: {where}: {why}"
