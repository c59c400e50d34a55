"""How far judges agree where several votes were asked for, as a section of the summary."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.analysis.ballots import Agreement
from pytest_rageval.report.lines import Line
from pytest_rageval.report.run import Run
from pytest_rageval.report.tables import blocks_of

__all__ = ["ballot_lines"]


def ballot_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table with a row for each metric that several votes decided."""
    found = run.ballots()
    if not found:
        return
    columns = [
        ["judges", *(str(len(each.models)) for each in found)],
        ["votes", *(str(each.n_votes) for each in found)],
        ["no label", *(str(each.n_unread) for each in found)],
        ["answers", *(str(each.n_answers) for each in found)],
        ["split", *("–" if each.split is None else f"{each.split:.2f}" for each in found)],
        ["two judges", *(_told(each.judges) for each in found)],
        ["asked again", *(_told(each.repeats) for each in found)],
        ["swapped", *(_told(each.swapped) for each in found)],
    ]
    yield Line("")
    yield Line(
        "judges - split: of the answers with two labels or more, those whose labels differ; then pairs that agree"
    )
    for block in blocks_of(["metric", *(each.metric for each in found)], columns, width):
        yield Line("")
        yield from map(Line, block)


def _told(agreement: Agreement) -> str:
    return "–" if agreement.share is None else f"{agreement.share:.2f} of {agreement.n}"
