"""``rageval history``: show a metric by run, or by commit of a baseline."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.past_results import past_commits, past_runs
from pytest_rageval.commands.runs import rootdir
from pytest_rageval.errors import SettingError
from pytest_rageval.report.run.history import Entry, HistoryQuery, UnreadableEntry, history_to_plain, series_of
from pytest_rageval.report.terminal.history_tables import history_lines

__all__ = ["history"]


def history(selection: HistoryQuery, baseline: Path | None, *, as_json: bool) -> Iterator[str]:
    """Yield a table of the values of each metric, oldest first, or one JSON document.

    Args:
        selection: the metric, testbed and system to show.
        baseline: show the commits of this file; None shows the runs of this machine.
        as_json: yield one JSON document instead of tables as wide as the terminal.

    Raises:
        SettingError: no run or commit can be read, or git fails.
        UnknownNameError: no run or commit has the selected metric, testbed or system.
    """
    label, root = "run" if baseline is None else "commit", rootdir(Path.cwd())
    items = past_runs(root) if baseline is None else past_commits(baseline)
    entries = [each for each in items if isinstance(each, Entry)]
    unread = [each for each in items if isinstance(each, UnreadableEntry)]
    if not items:
        raise SettingError(f"no run under {root / '.rageval' / 'runs'} yet; run the tests first", code="RAG212")
    if not entries:
        raise SettingError(f"no {label} can be read; the newest, {unread[-1].name}, is unreadable {unread[-1].why}")
    series = series_of(entries, selection)
    if as_json:
        yield json.dumps(history_to_plain(series, unread, label), indent=1)
        return
    width = shutil.get_terminal_size().columns
    yield from history_lines(series, unread, label, width)
