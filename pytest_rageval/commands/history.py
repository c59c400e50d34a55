"""``rageval history``: a metric from run to run, or from commit to commit of a baseline."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.past import past_commits, past_runs
from pytest_rageval.commands.runs import rootdir
from pytest_rageval.errors import SettingError
from pytest_rageval.report.run.history import Entry, HistoryQuery, Unread, history_to_plain, series_of
from pytest_rageval.report.terminal.history_tables import history_lines

__all__ = ["history"]


def history(wanted: HistoryQuery, baseline: Path | None, *, as_json: bool) -> Iterator[str]:
    """Yield how metrics went, oldest first.

    Args:
        wanted: which metric, testbed and system.
        baseline: a committed file, whose commits are told; None tells the runs that this machine keeps.
        as_json: whether as one JSON document, else as tables for a terminal as wide as the present one.

    Raises:
        SettingError: there is no run or commit that can be read, or git cannot be asked.
        UnknownNameError: none of them has what is wanted.
    """
    label, root = "run" if baseline is None else "commit", rootdir(Path.cwd())
    found = past_runs(root) if baseline is None else past_commits(baseline)
    entries = [each for each in found if isinstance(each, Entry)]
    unread = [each for each in found if isinstance(each, Unread)]
    if not found:
        raise SettingError(f"there is no run under {root / '.rageval' / 'runs'} yet; run the tests first")
    if not entries:
        raise SettingError(f"no {label} can be read; {unread[-1].name} is not, {unread[-1].why}")
    series = series_of(entries, wanted)
    if as_json:
        yield json.dumps(history_to_plain(series, unread, label), indent=1)
        return
    width = shutil.get_terminal_size().columns
    yield from history_lines(series, unread, label, width)
