"""``rageval cassettes``: list recordings, show those that a run used, remove the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_rageval.commands.runs import UsedRecordings, rootdir, stored_run, used_recordings
from pytest_rageval.errors import SettingError, UnknownNameError, ascii_safe
from pytest_rageval.llm.recordings.cassette import Index, read, settle
from pytest_rageval.llm.recordings.cassettes import existing
from pytest_rageval.llm.recordings.records import as_json, record_of

__all__ = ["cassettes", "missed"]

PREVIEW = 70
"""Number of characters of a request to show: its last ones, because requests often begin alike."""


def cassettes(folder: Path | None, *, unused: bool, prune: bool, run: str | None) -> Iterator[str]:
    """Yield the lines that the command prints.

    Args:
        folder: the folder of recordings; None is ``cassettes`` in the rootdir.
        unused: list each recording that the run did not use.
        prune: remove the unused recordings.
        run: the run's name; None is the newest.

    Raises:
        RagEvalError: the folder or run is missing, a file is malformed, or the run was partial and cannot decide what
        is
            unused.
    """
    root = rootdir(Path.cwd())
    folder = root / "cassettes" if folder is None else folder
    if not folder.is_dir():
        raise SettingError(f"no folder of recordings {folder}; name the folder of rag_cassettes")
    used = _used(root, run, needed=unused or prune)
    if prune and run is None:
        _check_whole(used)
    indices = {name: read(folder / name) for name in existing(folder)}
    yield from _table(indices, used)
    if used is None:
        yield "No run has listed its recordings yet."
        return
    if unused:
        yield from _unused(folder, indices, used)
    if prune:
        removed = sum(settle(folder / name, used.keys.__contains__) for name in indices)
        yield f"Removed {removed} of {sum(map(len, indices.values()))} recordings: run {used.run} did not use them."


def missed(case_id: str, run: str | None) -> Iterator[str]:
    """Yield how the calls of a case differ from their nearest recordings, in a run, by default the newest.

    Raises:
        SettingError: the run or the case is unknown.
    """
    stored = stored_run(rootdir(Path.cwd()), run)
    outcomes = [each for each in stored.results["outcomes"] if each["case_id"] == case_id]
    if not outcomes:
        raise UnknownNameError("case", case_id, {each["case_id"] for each in stored.results["outcomes"]}, stored.head)
    misses = [each for each in outcomes if each["error_type"] == "not_recorded"]
    if not misses:
        yield f"Every call of case {ascii_safe(case_id)} was recorded ({stored.head})."
    for outcome in misses:
        yield f"{ascii_safe(outcome['nodeid'])} ({stored.head})"
        yield from str(outcome["error"]).splitlines()
    if misses:
        yield f"Record this case anew with --rag-record-case {ascii_safe(case_id)}."


def _used(root: Path, run: str | None, *, needed: bool) -> UsedRecordings | None:
    try:
        used = used_recordings(root, run)
    except SettingError:
        if needed or run is not None:
            raise
        return None
    if used is None and needed:
        raise SettingError(f"no run under {root / '.rageval' / 'runs'} yet; run all tests first", code="RAG212")
    return used


def _check_whole(used: UsedRecordings | None) -> None:
    if used is None or (used.complete and used.keys):
        return
    why = "used no recording at all" if used.complete else "was interrupted, ran only some of the tests or had errors"
    raise SettingError(
        f"nothing was removed: the newest run {used.run} {why}; run all tests, or choose this run with --run {used.run}"
    )


def _table(indices: dict[str, Index], used: UsedRecordings | None) -> Iterator[str]:
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
