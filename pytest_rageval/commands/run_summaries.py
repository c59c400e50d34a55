"""Summarize a stored run without reading its cases: start, counts, verdict, size."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.commands.runs import RESULTS
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.pruning import is_active, size_of
from pytest_rageval.report.files.results_json import SCHEMA
from pytest_rageval.report.html.headline import conclusion_of

__all__ = ["RunSummary", "summary_of"]

MALFORMED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A stored run in one line.

    Attributes:
        name: the run's name.
        size: the size of its folder in bytes.
        started: when it started, in ISO 8601; None if its results cannot be read.
        cases: number of cases that ended; None if unknown.
        errors: number of cases that ended in an error; None if unknown.
        gates: number of gates; None if unknown.
        gates_failed: number of failed gates; None if unknown.
        verdict: "passed", "failed" or "open"; without results "running", "cut short" or "unreadable".
        sentence: the verdict as a sentence, or what is wrong with the results.
    """

    name: str
    size: int
    started: str | None
    cases: int | None
    errors: int | None
    gates: int | None
    gates_failed: int | None
    verdict: str
    sentence: str


def summary_of(folder: Path) -> RunSummary:
    """Return the summary of a run's folder. A run without results is still running or was cut short."""
    name, size = folder.name, size_of(folder)
    try:
        results, cases = _read_without_cases(folder / RESULTS)
        if results.get("schema", SCHEMA) != SCHEMA:
            raise ValueError("another version wrote it")
        errors = sum({(each["testbed"], each["system"]): each["n_errors"] for each in results["totals"]}.values())
        verdict = conclusion_of({**results, "outcomes": cases}, errors)
        failed = sum(gate["status"] == "failed" for gate in results["gates"])
        started, gates = str(results["run"]["started"]), len(results["gates"])
        return RunSummary(name, size, started, len(cases), errors, gates, failed, verdict.kind, verdict.text)
    except FileNotFoundError:
        state = "running" if is_active(folder) else "cut short"
        why = f"it has no {RESULTS}"
    except OSError as error:
        state, why = "unreadable", f"{RESULTS} cannot be read: {error.strerror or error}"
    except MALFORMED:
        state, why = "unreadable", f"{RESULTS} is truncated or has another version"
    return RunSummary(name, size, None, None, None, None, None, state, why)


def _read_without_cases(path: Path) -> tuple[Mapping[str, Any], Sized]:
    """Return the content of a results.json without its cases, and a collection with as many items as it has cases."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as text:
        instances, outcomes = text.find(b'\n"instances": '), text.find(b'\n"outcomes": [')
        gates = text.find(b'\n"gates": [', outcomes)
        end = text.find(b"]", gates) if text[gates + 11 : gates + 12] == b"]" else text.find(b"\n]", gates) + 1
        if not 0 < instances < outcomes < gates < end:  # another program rewrote the file
            results = parse_json(text[:].decode())
            return results, results["outcomes"]
        head = text[:instances].rstrip(b",\n") + b"," + text[gates : end + 1] + b"}"
        return parse_json(head.decode()), range(text[outcomes:gates].count(b"\n{"))
