"""Write the trace of each answer as one JSON file."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_rageval.activity import progress
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.folders import atomic_files
from pytest_rageval.report.files.read_results import StoredRun
from pytest_rageval.report.text.lines import counted

__all__ = ["write_traces"]

MAX_NAME_LENGTH = 80
"""Maximum number of characters of a file name without its suffix."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._=-]+")


def write_traces(stored: StoredRun, folder: Path) -> str:
    """Write the traces of a run to a new or empty folder, and return one line about it.

    Raises:
        SettingError: the run has no trace, or the folder is not empty or cannot be written.
    """
    name = stored.results["run"]["id"] or "run"
    outcomes = stored.results["outcomes"]
    traced = [outcome for outcome in outcomes if outcome["answer"] and outcome["answer"]["trace"]]
    if not traced:
        raise SettingError(f"no answer of the run {ascii_safe(name)} has a trace; docs/how-to/traces.md shows how")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SettingError(f"{folder} is not empty; name another folder with --out")
        with atomic_files(*(folder / file for file in _file_names(traced))) as parts:
            for outcome, part in progress("writing trace", [*zip(traced, parts, strict=True)]):
                content = _content(outcome, stored.results["instances"].get(outcome["case_id"], {}), name)
                text = json.dumps(content, ensure_ascii=False, indent=1)
                part.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise SettingError(f"--out {folder} cannot be written: {error.strerror or error}", code="RAG212") from error
    without = len(outcomes) - len(traced)
    rest = f"; {counted(without, 'outcome')} without a trace" if without else ""
    return f"{ascii_safe(str(folder))}: {counted(len(traced), 'trace')} of {ascii_safe(stored.head)}{rest}"


def _content(outcome: Mapping[str, Any], instance: Mapping[str, Any], run: str) -> dict[str, Any]:
    answer = outcome["answer"]
    return {
        "run": run,
        "id": outcome["case_id"],
        **{key: outcome[key] for key in ("nodeid", "system", "facets", "status", "error", "error_type")},
        "question": outcome.get("question") or instance.get("question"),
        "gold": instance.get("gold"),
        "answer": answer["text"],
        "scores": outcome["scores"],
        "diagnosis": outcome.get("diagnosis"),
        **{key: answer[key] for key in ("ranking", "usage", "trace")},
    }


def _file_names(outcomes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a file name for each outcome: the case's id, with a digest if the id is not unique or not a safe name."""
    names = [_UNSAFE.sub("-", outcome["case_id"])[:MAX_NAME_LENGTH].strip(".") for outcome in outcomes]
    counts = Counter(name.casefold() for name in names)
    for name, outcome in zip(names, outcomes, strict=True):
        identity = f"{outcome['nodeid']} {outcome['system']}"
        digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        needs_digest = name != outcome["case_id"] or counts[name.casefold()] > 1
        yield f"{name or 'case'}-{digest}.json" if needs_digest else f"{name}.json"
