"""``rageval show``: print the account of a run from its results.json."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.commands.paging import terminal_colours
from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.terminal.account_block import SessionFacts
from pytest_rageval.report.terminal.summary import summary_lines
from pytest_rageval.report.text.colours import paint
from pytest_rageval.scoring.folder import is_scores

__all__ = ["show"]


def show(run: str | None, *, full: bool = False) -> Iterator[str]:
    """Yield the lines of a run's account, as wide as the terminal.

    Args:
        run: the run's name, the path of its results.json, or a folder of scores; None is the newest.
        full: whether to print all sections of the report before the account.

    Raises:
        SettingError: the run is unknown, or its results cannot be read.
    """
    if run is not None and is_scores(Path(run)):
        from pytest_rageval.scoring.read_scores import summary_text

        yield from summary_text(Path(run))
        return
    stored = stored_run(rootdir(Path.cwd()), run)
    yield ascii_safe(stored.head)
    colours = terminal_colours()
    facts = SessionFacts(stored.results["run"]["duration_s"])
    with doing("summarizing the run"):
        width = shutil.get_terminal_size().columns
        lines = [*summary_lines(stored.run, stored.choice, width, int(full), facts)]
    for line in lines:
        yield paint(line, colours, None)
