"""How far judges agree where several votes were asked for, as a section of the summary."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.report.run.run import Run
from pytest_rageval.report.text.lines import Line
from pytest_rageval.report.text.tables import table

__all__ = ["ballot_lines"]


def ballot_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table with a row for each metric that several votes decided, and the columns that tell of any."""
    found = run.ballots()
    if not found:
        return
    columns = [
        ["judges", *(str(len(each.models)) for each in found)],
        ["votes", *(str(each.n_votes) for each in found)],
        ["no label", *(str(each.n_unread or "–") for each in found)],
        ["split", *(_told(each.split, each.n_answers) for each in found)],
        ["two judges", *(_told(each.judges.share, each.judges.n) for each in found)],
        ["asked again", *(_told(each.repeats.share, each.repeats.n) for each in found)],
        ["swapped", *(_told(each.swapped.share, each.swapped.n) for each in found)],
    ]
    told = [column for column in columns if set(column[1:]) != {"–"}]
    yield Line("")
    yield Line("judges - split: answers whose labels differ; then pairs of labels that agree")
    yield from table(["metric", *(each.metric for each in found)], told, width)


def _told(share: float | None, n: int) -> str:
    return "–" if share is None else f"{share:.2f} of {n}"
