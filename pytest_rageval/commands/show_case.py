"""``rageval show RUN --case ID``: print one case of a run with its old and new answer."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.paging import terminal_colours
from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.errors import UnknownNameError, ascii_safe
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.files.read_results import StoredRun
from pytest_rageval.report.terminal.case_lines import RERUN, case_lines
from pytest_rageval.report.text.colours import paint

__all__ = ["outcomes_of_case", "show_case"]


def show_case(run: str | None, case: str) -> Iterator[str]:
    """Yield the lines of each outcome of a case: one for each system and setting; see `case_lines`.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.
        case: the case's id, or the node id of its test.

    Raises:
        SettingError: the run or the case is unknown, or the results cannot be read.
    """
    stored = stored_run(rootdir(Path.cwd()), run)
    yield ascii_safe(stored.head)
    colours = terminal_colours()
    for outcome in outcomes_of_case(stored, case):
        yield ""
        for line in case_lines(stored.run, outcome):
            yield paint(line, colours, None)
            if line.text.startswith(RERUN):
                yield f"play: {shlex.join(['rageval', 'play', '--run', run or 'latest', '--case', outcome.nodeid])}"


def outcomes_of_case(stored: StoredRun, case: str) -> list[Outcome]:
    """Return the outcomes of a case; raise `UnknownNameError` if the run has none."""
    outcomes = list(stored.run.outcomes.values())
    matches = [outcome for outcome in outcomes if case in (outcome.nodeid, outcome.case_id)]
    if not matches:
        raise UnknownNameError("case", case, {outcome.case_id for outcome in outcomes})
    return matches
