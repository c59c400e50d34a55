"""``rageval show``: what a run's summary said, drawn again from its results.json."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.runs import results_path, rootdir
from pytest_rageval.errors import SettingError
from pytest_rageval.report.reread import run_of
from pytest_rageval.report.terminal import summary_lines

__all__ = ["show"]


def show(run: str | None) -> Iterator[str]:
    """Yield the lines of a run's summary, for a terminal as wide as the present one.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.

    Raises:
        SettingError: there is no such run, or its results cannot be read.
    """
    path = results_path(rootdir(Path.cwd()), run)
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        found, choice = run_of(results)
        head = f"run {results['run']['id'] or path.name}, started {results['run']['started']}"
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror or error}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = "it is cut short or of another version; name another run or file"
        raise SettingError(f"{path} is no results.json that this version can read: {why}") from error
    yield head
    for line in summary_lines(found, choice, shutil.get_terminal_size().columns, 0):
        yield line.text
