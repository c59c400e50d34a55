"""``rageval show``: what a run's summary said, drawn again from its results.json."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.paging import terminal_colours
from pytest_rageval.commands.runs import StoredRun, rootdir, stored_run
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.report.colours import painted
from pytest_rageval.report.folder import write_text
from pytest_rageval.report.markdown import markdown_of
from pytest_rageval.report.terminal import summary_lines

__all__ = ["show"]


def show(run: str | None, markdown: str | None = None) -> Iterator[str]:
    """Yield the lines of a run's summary, for a terminal as wide as the present one.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.
        markdown: the file to write it to as Markdown instead, "-" to yield that; None for neither.

    Raises:
        SettingError: there is no such run, its results cannot be read, or the file cannot be written.
    """
    stored = stored_run(rootdir(Path.cwd()), run)
    if markdown is not None:
        yield from _markdown(stored, markdown)
        return
    yield ascii_safe(stored.head)
    colours = terminal_colours()
    for line in summary_lines(stored.run, stored.choice, shutil.get_terminal_size().columns, 0):
        yield painted(line, colours, None)


def _markdown(stored: StoredRun, path: str) -> Iterator[str]:
    text = markdown_of(stored.run, stored.choice)
    if path == "-":
        yield from text.rstrip("\n").split("\n")
        return
    try:
        write_text(Path(path), [text])
    except OSError as error:
        raise SettingError(f"{path} could not be written: {error.strerror or error}") from error
    yield f"wrote {path}"
