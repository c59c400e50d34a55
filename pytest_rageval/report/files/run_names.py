"""Find a run by its path, its name, the start of its name, ``latest`` or ``latest~1``."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pytest_rageval.errors import SettingError, ascii_safe, short_repr
from pytest_rageval.report.files.run_folder import run_age

__all__ = ["LATEST", "find_run", "stored_runs"]

LATEST = "latest"

MAX_LISTED = 5
"""Maximum number of runs that a message lists."""

_BACK = re.compile(rf"{LATEST}(?:~(\d{{0,9}}))?")


def stored_runs(runs: Path) -> list[Path]:
    """Return the folders of the runs in ``runs``, newest first."""
    return sorted((path for path in runs.glob("*") if path.is_dir()), key=run_age, reverse=True)


def find_run(runs: Path, name: str) -> Path:
    """Return the folder of a run, or the path of a file.

    The first match counts, in this order: the path of a file, the whole name of a run, ``latest``, the path of a
    folder, the start of a run's name.

    Args:
        runs: the folder of the project's runs.
        name: the name that the user typed.

    Raises:
        SettingError: no run matches, or the names of several runs begin with ``name``.
    """
    path = Path(name)
    if os.path.isfile(path):  # False for a name that no path can have
        return path
    if name and path.name == name and os.path.isdir(runs / name):
        return runs / name
    stored = stored_runs(runs)
    if back := _BACK.fullmatch(name):
        number = int(back[1] or (1 if "~" in name else 0))
        if number < len(stored):
            return stored[number]
        raise SettingError(f"there is no run {name} under {runs}; {_hint(stored)}", code="RAG212")
    if name and os.path.isdir(path):
        return path
    matches = [folder for folder in stored if name and folder.name.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise SettingError(
            f"several runs begin with {short_repr(name)}: {_names_text(matches)}; write more of the name"
        )
    raise SettingError(f"the run {ascii_safe(name)} is not under {runs}; {_hint(stored)}")


def _hint(stored: list[Path]) -> str:
    return f"name one, such as {_names_text(stored)}, or a file" if stored else "run the tests first, or name a file"


def _names_text(folders: list[Path]) -> str:
    more = f" and {len(folders) - MAX_LISTED} more" if len(folders) > MAX_LISTED else ""
    return ", ".join(ascii_safe(folder.name) for folder in folders[:MAX_LISTED]) + more
