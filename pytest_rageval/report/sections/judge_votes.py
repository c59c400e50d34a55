"""Agreement among the votes of judges in the summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.people.vote_agreement import Ballots, Pairs, ballots_of
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.sections.section import Section, Table

__all__ = ["BALLOTS"]

TITLE = "judges - split: answers whose labels differ; then pairs of labels that agree"


def _tables(ballots: Sequence[Ballots], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table with a row for each metric that several votes decided, without empty columns."""
    columns = [
        ["judges", *(str(len(each.models)) for each in ballots)],
        ["votes", *(str(each.n_votes) for each in ballots)],
        ["no label", *(str(each.n_unread or "–") for each in ballots)],
        ["split", *(_share(each.split, each.n_answers) for each in ballots)],
        ["two judges", *(_share(each.judges.share, each.judges.n) for each in ballots)],
        ["asked again", *(_share(each.repeats.share, each.repeats.n) for each in ballots)],
        ["swapped", *(_share(each.swapped.share, each.swapped.n) for each in ballots)],
    ]
    not_empty = [column for column in columns if set(column[1:]) != {"–"}]
    yield Table(TITLE, [["metric", *(each.metric for each in ballots)], *not_empty])


def _encode(ballots: Sequence[Ballots]) -> list[dict[str, Any]]:
    return [
        {
            "metric": each.metric,
            "models": list(each.models),
            "votes": each.n_votes,
            "unread": each.n_unread,
            "answers": each.n_answers,
            "split": each.split,
            "two_judges": _encode_pairs(each.judges),
            "asked_again": _encode_pairs(each.repeats),
            "swapped": _encode_pairs(each.swapped),
        }
        for each in ballots
    ]


def _encode_pairs(pairs: Pairs) -> dict[str, Any]:
    return {"share": pairs.share, "n": pairs.n}


def _share(share: float | None, n: int) -> str:
    return "–" if share is None else f"{share:.2f} of {n}"


BALLOTS = Section(
    "ballots",
    Ballots,
    lambda run: ballots_of(run.originals()),
    _tables,
    encode=_encode,
    in_markdown=False,
    on_page=False,
    top_level=True,
)
