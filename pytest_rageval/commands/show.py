"""``rageval show``: what a run's summary said, drawn again from its results.json."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.runs import StoredRun, rootdir, runs_of, stored_run
from pytest_rageval.errors import SettingError
from pytest_rageval.report.terminal import summary_lines

__all__ = ["show"]


def show(run: str | None, html: Path | None = None) -> Iterator[str]:
    """Yield the lines of a run's summary, for a terminal as wide as the present one, or write a page of it.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.
        html: where the page is written instead; None wants the summary.

    Raises:
        SettingError: there is no such run, its results cannot be read, or the page cannot be written.
        MissingDependencyError: the page needs jinja2.
    """
    root = rootdir(Path.cwd())
    stored = stored_run(root, run)
    if html is not None:
        yield from _drawn(html, stored, runs_of(root))
        return
    yield stored.head
    for line in summary_lines(stored.run, stored.choice, shutil.get_terminal_size().columns, 0):
        yield line.text


def _drawn(path: Path, stored: StoredRun, runs: Path) -> Iterator[str]:
    from pytest_rageval.report.html.page import write_html

    try:
        write_html(path, stored.results, runs)
    except OSError as error:
        raise SettingError(f"{path} cannot be written: {error.strerror or error}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SettingError(f"{stored.head}: its results.json is not whole, so that no page can be drawn") from error
    yield f"{stored.head}: drawn to {path}"
