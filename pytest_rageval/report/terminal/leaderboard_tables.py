"""Format leaderboards and the preferences of a judge, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from pytest_rageval.analysis.statistics import Mean
from pytest_rageval.analysis.systems.leaderboard import Leaderboard, Place
from pytest_rageval.analysis.systems.ranks import ordinal
from pytest_rageval.report.run.preferences import PairOfSystems, Preferences
from pytest_rageval.report.sections.best_system import p_text
from pytest_rageval.report.sections.section import Table
from pytest_rageval.report.text.lines import Line, counted, interval, number
from pytest_rageval.report.text.tables import ABSENT

__all__ = ["leaderboard_json", "leaderboard_table", "preference_tables", "preferences_json"]


def leaderboard_table(board: Leaderboard) -> Table:
    """Return a table of the systems, the best one first."""
    places = board.places
    columns = [["system", *(each.record.system for each in places)], ["rank", *(ordinal(each.rank) for each in places)]]
    if any(each.cell is not None for each in places):
        columns.append(["mean [95 %]", *map(_cell, places)])
        columns.append(["n", *(ABSENT if each.cell is None else str(each.cell.n) for each in places)])
    columns += [[head, *(str(getattr(each.record, head)) for each in places)] for head in ("won", "tied", "lost")]
    columns.append(["share won", *(number(each.record.share) for each in places)])
    columns.append(["rating [95 %]", *map(_rating, places)])
    columns.append(["from the best", *map(_behind, places)])
    notes = [
        Line("won, tied, lost: case by case against each other system"),
        Line("rating: Bradley-Terry, the mean is 1000, 400 points more win 10 cases of 11"),
    ]
    best = places[0].record.system
    names = board.not_separable
    if names:
        notes.append(Line(f"not separable from {best}: {', '.join(names)}"))
    return Table(f"leaderboard by {board.by} - paired tests, Holm, alpha {board.alpha:g}", columns, notes)


def leaderboard_json(board: Leaderboard) -> dict[str, Any]:
    """Return a leaderboard as builtins."""
    return {
        "by": board.by,
        "alpha": board.alpha,
        "not_separable": board.not_separable,
        "systems": [
            {
                **asdict(each.record),
                "rank": each.rank,
                **(
                    {} if each.cell is None else {"mean": each.cell.mean, "n": each.cell.n, "mean_ci95": each.cell.ci95}
                ),
                "behind": None if each.behind is None else asdict(each.behind),
            }
            for each in board.places
        ],
    }


def preference_tables(result: Preferences) -> Iterator[Table]:
    """Yield a table of the pairs of systems and, for three or more systems, the leaderboard."""
    pairs = result.pairs
    columns = [
        ["systems", *(f"{each.contrast.system} - {each.contrast.other}" for each in pairs)],
        ["n", *(str(each.contrast.n) for each in pairs)],
        ["won", *(str(each.contrast.won) for each in pairs)],
        ["tied", *(str(each.tied) for each in pairs)],
        ["lost", *(str(each.contrast.lost) for each in pairs)],
        ["share won [95 %]", *(_mean(each.share) for each in pairs)],
        ["p", *(p_text(each.contrast.p_adjusted) for each in pairs)],
        ["order decided", *(str(each.order_decided) for each in pairs)],
        ["same answer", *(str(each.same_answer) for each in pairs)],
    ]
    notes = [
        Line("tied: both orders say so, or they disagree (order decided), or the answers are the same (not asked)"),
        Line(f"the order decided {_mean(result.order_decided)} of {counted(result.order_decided.n, 'vote')}"),
        Line(f"the answer shown first was named {_mean(result.first_shown)}; without bias 0.5"),
        *(Line(text) for text in _unscored(pairs)),
        *(Line(f"{counted(n, 'pair')} left out: {why}") for why, n in result.left_out.items()),
    ]
    title = f"preferences of {result.judge} ({', '.join(result.models)}), asked in both orders"
    yield Table(title, columns, notes)
    if len(result.leaderboard.places) > 2:
        yield leaderboard_table(result.leaderboard)


def preferences_json(result: Preferences) -> dict[str, Any]:
    """Return preferences as builtins."""
    return {
        "judge": result.judge,
        "models": list(result.models),
        "pairs": [
            {
                **asdict(each.contrast),
                "tied": each.tied,
                "same_answer": each.same_answer,
                "order_decided": each.order_decided,
                "share": each.share.value,
                "ci95": each.share.ci95,
                "unscored": dict(each.unscored),
            }
            for each in result.pairs
        ],
        "order_decided": {
            "share": result.order_decided.value,
            "n": result.order_decided.n,
            "ci95": result.order_decided.ci95,
        },
        "first_shown": {"share": result.first_shown.value, "n": result.first_shown.n, "ci95": result.first_shown.ci95},
        "leaderboard": leaderboard_json(result.leaderboard),
        "left_out": dict(result.left_out),
    }


def _cell(place: Place) -> str:
    return ABSENT if place.cell is None else f"{number(place.cell.mean)} {interval(place.cell.ci95)}".strip()


def _rating(place: Place) -> str:
    rated = place.record
    if rated.rating is None:
        return ABSENT
    ends = "" if rated.ci95 is None else f" [{rated.ci95[0]:.0f}, {rated.ci95[1]:.0f}]"
    return f"{rated.rating:.0f}{ends}"


def _behind(place: Place) -> str:
    if place.behind is None:
        return ABSENT if place.rank is None else "best"
    return f"{'separable' if place.behind.separable else 'not separable'} (p {p_text(place.behind.p_adjusted)})"


def _mean(mean: Mean) -> str:
    return ABSENT if mean.value is None else f"{mean.value:.2f} {interval(mean.ci95)}".strip()


def _unscored(pairs: tuple[PairOfSystems, ...]) -> Iterator[str]:
    for each in pairs:
        if each.unscored:
            reasons = ", ".join(f"{n} {reason}" for reason, n in each.unscored.items())
            yield f"{each.contrast.system} - {each.contrast.other}: without a verdict {reasons}"
