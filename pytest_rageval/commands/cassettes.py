"""``rageval cassettes``: list recordings, remove unused ones, compare calls with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_rageval.commands.runs import UsedRecordings, rootdir, stored_run, used_recordings
from pytest_rageval.errors import SettingError, UnknownNameError, ascii_safe
from pytest_rageval.llm.recordings.cassette import Index, read, sort_records
from pytest_rageval.llm.recordings.cassettes import recording_files
from pytest_rageval.llm.recordings.records import as_json, record_of
from pytest_rageval.report.text.lines import counted

__all__ = ["diff", "info", "prune"]

PREVIEW = 70
"""Number of characters shown of a request: its last ones, because many requests begin alike."""


def info(folder: Path | None, run: str | None, *, unused: bool) -> Iterator[str]:
    """Yield the files of recordings and how many of each a run used.

    Args:
        folder: the folder of recordings; None is ``cassettes`` in the rootdir.
        run: the run's name; None is the newest.
        unused: list each recording that the run did not use.

    Raises:
        RagEvalError: the folder or run is missing, or a file is malformed.
    """
    root, folder = _places(folder)
    used = _used(root, run) if unused else _used_if_known(root, run)
    indices = _indices(folder)
    yield from _table(indices, used)
    if used is None:
        yield "No run has listed its recordings yet."
    elif unused:
        yield from _unused(folder, indices, used)


def prune(folder: Path | None, run: str | None, *, dry_run: bool) -> Iterator[str]:
    """Remove the recordings that a run did not use, and yield how many of each file; ``dry_run`` only counts them.

    Args:
        folder: the folder of recordings; None is ``cassettes`` in the rootdir.
        run: the run's name; None is the newest, which must not be partial.
        dry_run: remove nothing.

    Raises:
        RagEvalError: the folder or run is missing, a file is malformed, or a partial run cannot decide what is unused.
    """
    root, folder = _places(folder)
    used = _used(root, run)
    if run is None:
        _check_whole(used)
    removed = size = 0
    for name, index in _indices(folder).items():
        records = [index[key] for key in index.keys() - used.keys]
        if not dry_run:
            sort_records(folder / name, used.keys.__contains__)
        if records:
            file_size = sum(len(record.text) + 1 for record in records)
            removed, size = removed + len(records), size + file_size
            yield f"{name}: {counted(len(records), 'recording')}, {file_size:,} bytes"
    what = f"{counted(removed, 'recording')} that the run {used.run} did not use, {size:,} bytes"
    yield f"{'Would remove' if dry_run else 'Removed'} {what}."


def _places(folder: Path | None) -> tuple[Path, Path]:
    """Return the rootdir and the folder of recordings."""
    root = rootdir(Path.cwd())
    folder = root / "cassettes" if folder is None else folder
    if not folder.is_dir():
        raise SettingError(f"no folder of recordings {folder}; name the folder of rag_cassettes")
    return root, folder


def _indices(folder: Path) -> dict[str, Index]:
    return {name: read(folder / name) for name in recording_files(folder)}


def diff(case_id: str, run: str | None) -> Iterator[str]:
    """Yield how the calls of a case that had no recording differ from their nearest recordings.

    Args:
        case_id: the id of the case.
        run: the run's name; None is the newest.

    Raises:
        SettingError: the run or the case is unknown.
    """
    stored = stored_run(rootdir(Path.cwd()), run)
    outcomes = [each for each in stored.results["outcomes"] if each["case_id"] == case_id]
    if not outcomes:
        raise UnknownNameError("case", case_id, {each["case_id"] for each in stored.results["outcomes"]}, stored.head)
    not_recorded = [each for each in outcomes if each["error_type"] == "not_recorded"]
    if not not_recorded:
        yield f"Every call of case {ascii_safe(case_id)} was recorded ({stored.head})."
    for outcome in not_recorded:
        yield f"{ascii_safe(outcome['nodeid'])} ({stored.head})"
        yield from str(outcome["error"]).splitlines()
    if not_recorded:
        yield f"Record this case again with --rag-record-case {ascii_safe(case_id)}."


def _used(root: Path, run: str | None) -> UsedRecordings:
    used = used_recordings(root, run)
    if used is None:
        raise SettingError(f"no run under {root / '.rageval' / 'runs'} yet; run all tests first", code="RAG212")
    return used


def _used_if_known(root: Path, run: str | None) -> UsedRecordings | None:
    """Return the recordings that a run used; None if no run is named and the newest has no list of them."""
    try:
        return used_recordings(root, run)
    except SettingError:
        if run is not None:
            raise
        return None


def _check_whole(used: UsedRecordings) -> None:
    """Raise `SettingError` if the newest run cannot decide which recordings are unused."""
    if used.complete and used.keys:
        return
    why = "used no recording at all" if used.complete else "was interrupted, ran only some of the tests or had errors"
    raise SettingError(
        f"nothing was removed: the newest run {used.run} {why}; run all tests, or choose this run with --run {used.run}"
    )


def _table(indices: dict[str, Index], used: UsedRecordings | None) -> Iterator[str]:
    """Yield a table of the files with the number of their recordings, and how many of these a run used."""
    width = max(map(len, (*indices, "file")))
    yield f"{'file':{width}}  records" + ("" if used is None else "     used   unused")
    for name, index in indices.items():
        row = f"{name:{width}}  {len(index):7}"
        if used is not None:
            count = len(index.keys() & used.keys)
            row += f"  {count:7}  {len(index) - count:7}"
        yield row
    if used is not None:
        yield f"Used by run {used.run}{'' if used.complete else ', which was partial'}."


def _unused(folder: Path, indices: dict[str, Index], used: UsedRecordings) -> Iterator[str]:
    for name, index in indices.items():
        for key in sorted(index.keys() - used.keys):
            record = record_of(folder / name, index[key])
            yield f"{name} {key} repeat {record['repeat']}: {_preview(record['messages'])}"


def _preview(messages: Any) -> str:
    try:
        text = str(messages[-1]["content"])
    except (KeyError, IndexError, TypeError):
        text = as_json(messages)
    text = ascii_safe(" ".join(text.split()))
    return text if len(text) <= PREVIEW else f"...{text[-PREVIEW:]}"
