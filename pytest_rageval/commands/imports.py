"""``rageval import``: files of other tools to our datasets, recorded answers and scores."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

from pytest_rageval.datasets import imports, jsonl
from pytest_rageval.datasets.imports.taken import ImportResult, Order
from pytest_rageval.datasets.recorded import load_recorded
from pytest_rageval.datasets.source import JsonObject, read_records, shown_path
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.folders import whole_files
from pytest_rageval.registry import Registry

__all__ = ["import_files"]

SAMPLES = ("deepeval", "jsonl", "ragas", "table")
"""The formats with a question and its answers a row."""

Target = tuple[str, Path, list[JsonObject], Callable[[Path], object]]
"""What rows are, where they go, the rows, and what has to be able to read them there."""


def import_files(form: str, order: Order, out: Path | None, *, force: bool) -> Generator[str, None, int]:
    """Write what an importer takes, yield the lines that the command prints, and return its exit status.

    It is 1 if a line says ``left:``, and 0 if fields were only not needed; everything else is written.

    Args:
        form: the name of the importer.
        order: what is imported.
        out: the file that is written; recorded answers go beside it, as ``cases.answers.jsonl``. None is cases.jsonl
            or, of scores, scores.jsonl, in the current folder.
        force: write over files that are there.

    Raises:
        RagEvalError: nothing could be taken or written; no file is changed.
    """
    importers: Registry[imports.Importer] = Registry("format to import", imports.BUILTIN)
    if order.cases is not None and form != "omnieval-results":
        raise SettingError(f"--cases FILE is for omnieval-results, not for {form}; leave it out")
    if (order.slots or order.content_ids) and form not in SAMPLES:
        option = "--slots" if order.slots else "--ids content"
        raise SettingError(f"{option} is for {', '.join(SAMPLES)}, not for {form}; leave it out")
    result = ImportResult()
    importers.get(form)(order, result)
    if not result.cases and not result.scores:
        first = ": ".join(result.left[0]) if result.left else "the sources hold no row"
        raise SettingError(f"nothing was written, as none of {result.rows} rows could be taken; the first: {first}")
    targets = _targets(result, out)
    for _, path, _, _ in targets:
        _check_free(path, order, force=force)
    _write(targets)
    for what, path, rows, _ in targets:
        yield f"{len(rows)} {what} of {result.rows} rows -> {shown_path(path)}"
    yield from _told(result)
    return int(result.lost)


def _targets(result: ImportResult, out: Path | None) -> list[Target]:
    if result.scores:
        return [("scores", out or Path("scores.jsonl"), result.scores, read_records)]
    path = out or Path("cases.jsonl")
    targets: list[Target] = [("cases", path, result.cases, jsonl.load)]
    if result.answers:
        targets.append(("answers", path.with_name(f"{path.stem}.answers.jsonl"), result.answers, load_recorded))
    return targets


def _check_free(path: Path, order: Order, *, force: bool) -> None:
    if any(path.absolute() == source.absolute() for source in (*order.paths, order.cases) if source):
        raise SettingError(f"{shown_path(path)} is what is imported; say where to write with --out")
    if path.exists() and not force:
        raise SettingError(f"{shown_path(path)} is there already; name another file with --out, or add --force")


def _write(targets: list[Target]) -> None:
    """Write each file beside its path, see that it can be read, and then move all of them there."""
    try:
        with whole_files(*(path for _, path, _, _ in targets)) as parts:
            for part, (_, _, rows, load) in zip(parts, targets, strict=True):
                with part.open("w", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
                load(part)
    except OSError as error:
        raise SettingError(f"{shown_path(targets[0][1])} cannot be written: {error.strerror or error}") from None


def _told(result: ImportResult) -> Iterator[str]:
    yield from map(ascii_safe, result.notes)
    unscored = Counter((str(row["metric"]), row["reason"]) for row in result.scores if "reason" in row)
    for (metric, reason), count in unscored.items():
        yield f"{ascii_safe(metric)}: {count} without a value, {reason}"
    for name, count in sorted(result.fields.items(), key=lambda item: (item[0] in result.needless, item[0])):
        yield f"{'not needed' if name in result.needless else 'left'}: {ascii_safe(name)} ({count})"
    for where, why in result.left:
        yield f"left: {where}: {why}"
