"""Agreement among the votes of judges in the summary."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.report.run.run import Run
from pytest_rageval.report.text.lines import Line
from pytest_rageval.report.text.tables import table

__all__ = ["ballot_lines"]


def ballot_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table with a row for each metric that several votes decided, without empty columns."""
    ballots = run.ballots()
    if not ballots:
        return
    columns = [
        ["judges", *(str(len(each.models)) for each in ballots)],
        ["votes", *(str(each.n_votes) for each in ballots)],
        ["no label", *(str(each.n_unread or "–") for each in ballots)],
        ["split", *(_share(each.split, each.n_answers) for each in ballots)],
        ["two judges", *(_share(each.judges.share, each.judges.n) for each in ballots)],
        ["asked again", *(_share(each.repeats.share, each.repeats.n) for each in ballots)],
        ["swapped", *(_share(each.swapped.share, each.swapped.n) for each in ballots)],
    ]
    filled = [column for column in columns if set(column[1:]) != {"–"}]
    yield Line("")
    yield Line("judges - split: answers whose labels differ; then pairs of labels that agree")
    yield from table(["metric", *(each.metric for each in ballots)], filled, width)


def _share(share: float | None, n: int) -> str:
    return "–" if share is None else f"{share:.2f} of {n}"
