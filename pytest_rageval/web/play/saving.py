"""Save a case: plan what to write, check it as `rageval lint` does, and write it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.jsonl import read_instance
from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.folders import atomic_files
from pytest_rageval.generation.saving.record import saved_record
from pytest_rageval.generation.saving.suite import suite_text
from pytest_rageval.hooks.playing.saved_files import SavedFiles
from pytest_rageval.linting.added_record import lint_added_record
from pytest_rageval.linting.finding import Finding
from pytest_rageval.model.case import Case
from pytest_rageval.report.text.power_line import power_line
from pytest_rageval.web.files import FileChangedError, inside, read_snapshot, write_file

__all__ = ["PlannedCase", "plan_case", "write_case"]

SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """What to write to save a case.

    Attributes:
        project: the folder of the project.
        file: the JSON Lines file, relative to the project.
        record: the record.
        content: the whole new content of the file.
        before: the last line of the file, for the diff; "" for a new file.
        seen: the digest of the present file.
        findings: what lint finds about the record.
        suite: the path of the suite to write, relative to the project, and its text; None if a testbed reads the file,
            or the suite exists.
        pytest: the command that runs the case.
        remark: the smallest detectable drop with this number of cases; "" if a testbed reads the file.
    """

    project: Path
    file: str
    record: Mapping[str, Any]
    content: bytes
    before: str
    seen: str
    findings: tuple[Finding, ...]
    suite: tuple[str, str] | None
    pytest: str
    remark: str

    @property
    def line(self) -> str:
        """The record as a line of JSON."""
        return json.dumps(self.record, ensure_ascii=False)

    @property
    def preview_digest(self) -> str:
        """The digest of the preview that a person confirms: the file, the record and the suite."""
        return sha256(json.dumps([self.file, self.seen, self.line, self.suite]).encode()).hexdigest()

    @property
    def blocked(self) -> bool:
        """Whether lint found an error, so the case must not be written."""
        return any(each.severity == "error" for each in self.findings)

    def plain(self) -> dict[str, Any]:
        """Return the preview as JSON values."""
        return {
            "id": self.record["id"],
            "file": self.file,
            "before": self.before,
            "line": self.line,
            "seen": self.preview_digest,
            "blocked": self.blocked,
            "findings": [str(each) for each in self.findings],
            "suite": None if self.suite is None else {"file": self.suite[0], "text": self.suite[1]},
            "pytest": self.pytest,
            "remark": self.remark,
        }


def plan_case(
    project: Path, files: SavedFiles, file: str, values: Mapping[str, Any], origin: str, case: Case | None
) -> PlannedCase:
    """Plan what to write to a file; nothing is written.

    Args:
        project: the folder of the project.
        files: the project's datasets and testbeds.
        file: the JSON Lines file, relative to the project.
        values: the keys of the record; see `saved_record`.
        origin: the test that the case comes from; "" for a typed question.
        case: the case of that test; None for a typed question.

    Raises:
        SettingError: the path is outside the project, or is not a JSON Lines file.
    """
    if not file.endswith(SUFFIX):
        raise SettingError(f"{file or 'the file'}: a case is saved in a file that ends with {SUFFIX}; name one")
    path = inside(project, file)
    file = path.relative_to(Path(os.path.realpath(project))).as_posix()
    seen = read_snapshot(path)
    record = saved_record(values, origin, case)
    start = seen.content if not seen.content or seen.content.endswith(b"\n") else seen.content + b"\n"
    content = start + json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    findings = tuple(_findings(files, content, start.count(b"\n") + 1, file, record))
    n = sum(bool(line.strip()) for line in content.split(b"\n"))
    suites = files.suites_of(file)
    suite = None if suites else _suite(project, files, path, power_line(n))
    where = suites[0] if suites else _suite_name(project, files, path)
    last = start.rstrip(b"\n").rpartition(b"\n")[2].decode("utf-8", "replace")
    command = shlex.join(["pytest", where, "-k", str(record["id"])])
    return PlannedCase(
        project, file, record, content, last, seen.digest, findings, suite, command, "" if suites else power_line(n)
    )


def write_case(saved: PlannedCase, files: SavedFiles, seen: str, keys: tuple[str, ...]) -> list[str]:
    """Write a case, its recordings and its suite; return the names of the files that were written.

    The recordings are written first. So a killed process may leave unused recordings, but never a case without its
    recordings.

    Args:
        saved: the case.
        files: the project's recordings.
        seen: the `PlannedCase.preview_digest` that the person confirmed.
        keys: the recordings of its answer.

    Raises:
        DataError: lint found an error.
        FileChangedError: the case or the file changed since the preview.
    """
    if saved.blocked:
        raise DataError(saved.file, next(each.problem for each in saved.findings if each.severity == "error"))
    if saved.preview_digest != seen:
        raise FileChangedError(saved.file, "the case or the file changed since it was shown; look at the diff again")
    written = [f"recordings {name}" for name in files.keep_recordings(keys)]
    write_file(saved.project, saved.file, saved.content, seen=saved.seen)
    written.insert(0, saved.file)
    if saved.suite is not None:
        path = inside(saved.project, saved.suite[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_files(path, overwrite=False) as (part,):
            part.write_text(saved.suite[1], encoding="utf-8", newline="\n")
        written.insert(1, saved.suite[0])
    return written


def _findings(files: SavedFiles, content: bytes, line: int, file: str, record: Mapping[str, Any]) -> list[Finding]:
    """Return the findings of lint about the record, and the evidence that the corpus lacks."""
    findings = lint_added_record(content, line, file)
    if not {"answers", "slots"} & {*record} and record.get("answerable") is not False:
        problem = "the case has no right answer; write one, or say that the answer is right"
        findings.append(Finding("no_gold", "error", str(record["id"]), f"{file}:{line}", problem))
    if not record.get("evidence") or any(each.check == "unreadable" for each in findings):
        return findings
    instance = read_instance(Fields(f"{file}:{line}", record), Path(file).stem)
    problems = files.missing_evidence(instance)
    return [*findings, *(Finding("evidence_not_in_corpus", "error", instance.id, instance.origin, p) for p in problems)]


def _suite_name(project: Path, files: SavedFiles, dataset: Path) -> str:
    """Return the path of the suite of a dataset that no testbed reads, in the folder of the tests."""
    path = files.tests / f"{dataset.stem}.rag.toml"
    return path.relative_to(project).as_posix() if path.is_relative_to(project) else path.name


def _suite(project: Path, files: SavedFiles, dataset: Path, remark: str) -> tuple[str, str] | None:
    """Return the path and the text of the suite of a dataset; None if the file exists."""
    name = _suite_name(project, files, dataset)
    return None if (project / name).exists() else (name, suite_text(inside(project, name), dataset, remark))
