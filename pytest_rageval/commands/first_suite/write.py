"""Write a first suite: all of its files, or none."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_rageval.commands.first_suite.cases import CASES, Cases, cases_of, example_cases
from pytest_rageval.commands.first_suite.files import pytest_ini, suite_toml, workflow
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.folders import atomic_files
from pytest_rageval.importing import SPEC
from pytest_rageval.report.text.lines import counted
from pytest_rageval.report.text.power_line import power_line
from pytest_rageval.systems.loading import load_system

__all__ = ["write_suite"]

SUITE = "tests/rag.rag.toml"
SETTINGS = {
    **dict.fromkeys(("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml"), ""),
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}
"""File -> the text that it contains if it has pytest's settings.

If one exists, `write_suite` neither edits it nor writes a pytest.ini, which would hide it.
"""


def write_suite(folder: Path, system: str, data: Path | None) -> Generator[str, None, int]:
    """Write the suite, yield the lines to print, and return 1 if rows of ``data`` were left out, else 0.

    Args:
        folder: the project's folder.
        system: the system as ``module:attribute``, or "" for the embedded reader.
        data: the file of cases; None for invented ones.

    Raises:
        RagEvalError: the system or the data cannot be used, or a file exists; nothing was written.
    """
    _check_system(system, folder)
    cases = cases_of(data, folder) if data else example_cases()
    _check_passages(cases, data, system)
    settings = next((name for name, head in SETTINGS.items() if _contains(folder / name, head)), "")
    pytest = ["pytest", *([SUITE] if settings else ()), *(["--rag-system", system] if settings and system else ())]
    texts = {SUITE: suite_toml(f"jsonl:{_dataset(cases, folder)}")}
    if cases.path is None:
        texts[CASES] = cases.text
    if not settings:
        texts["pytest.ini"] = pytest_ini(system)
    texts[".github/workflows/rag.yml"] = workflow(folder, pytest)
    _write({folder / name: text for name, text in texts.items()})
    yield f"written: {', '.join(texts)}"
    yield from cases.remarks
    if system and not data:
        yield f"The cases are invented: replace them with questions that {system} should answer."
    if settings and system:
        yield f"Add to pytest's settings in {settings}, then leave out --rag-system: {_setting(settings, system)}"
    yield power_line(len(cases.rows))
    yield f"Next: {shlex.join(pytest)}"
    return int(cases.lost)


def _check_system(system: str, folder: Path) -> None:
    """Load the system as pytest would."""
    if not system:
        return
    if not SPEC.fullmatch(system):
        raise SettingError(f"--from {short_repr(system)} is not module:attribute; write for example app:answer")
    sys.path.append(str(folder))
    try:
        load_system(system)
    finally:
        sys.path.remove(str(folder))


def _check_passages(cases: Cases, data: Path | None, system: str) -> None:
    """Raise `SettingError` if the embedded reader has to answer cases without passages."""
    if data and not system and (n := cases.without_passages()):
        problem = f"{n} of {counted(len(cases.rows), 'case')} without passages, which the embedded reader needs"
        raise SettingError(f"{shown_path(data)}: {problem}; name your own system with --from module:attr")


def _contains(path: Path, text: str) -> bool:
    return path.is_file() and text in path.read_text(encoding="utf-8", errors="replace")


def _dataset(cases: Cases, folder: Path) -> str:
    """Return the path of the file of cases, relative to the suite's folder."""
    if cases.path is None:
        return "cases.jsonl"
    return Path(os.path.relpath(cases.path.resolve(), (folder / SUITE).parent.resolve())).as_posix()


def _setting(settings: str, system: str) -> str:
    """Return the line that sets the system, in the syntax of the file ``settings``."""
    return f'rag_system = ["{system}"]' if settings.endswith(".toml") else f"rag_system = {system}"


def _write(texts: Mapping[Path, str]) -> None:
    """Write all files or none; raise `SettingError` if one exists."""
    existing = [shown_path(path) for path in texts if os.path.lexists(path)]
    if existing:
        verb = "exists" if len(existing) == 1 else "exist"
        raise SettingError(f"{', '.join(existing)} already {verb}; nothing was written; move or remove first")
    try:
        with _folders(texts), atomic_files(*texts, overwrite=False) as parts:
            for part, text in zip(parts, texts.values(), strict=True):
                part.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        what = shown_path(Path(error.filename)) if error.filename else "the suite"
        raise SettingError(f"{what} cannot be written: {error.strerror or error}", code="RAG212") from None


@contextmanager
def _folders(paths: Mapping[Path, str]) -> Iterator[None]:
    """Create the folders of the files; after an error, remove the new ones."""
    new_folders: list[Path] = []
    try:
        for path in paths:
            for each in reversed(path.parents):
                if not each.is_dir():
                    each.mkdir()
                    new_folders.append(each)
        yield
    except BaseException:
        for each in reversed(new_folders):
            with suppress(OSError):
                each.rmdir()
        raise
