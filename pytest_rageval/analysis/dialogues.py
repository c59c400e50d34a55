"""Score conversations: by round, and the share without a missed turn.

A conversation has the facet ``dialogue``. A turn is one of its cases; a round is the place of a turn in it
(facet ``round``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from pytest_rageval.analysis.cells import Cell, cell_of, value_of
from pytest_rageval.analysis.clusters import REPEAT
from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.misses import is_miss
from pytest_rageval.model.facets import sort_key
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.testbeds.settings import AXES

__all__ = ["Dialogues", "dialogues_of"]

_SETTINGS = ("dialogue", *AXES, REPEAT)
"""The facets that identify a conversation: its id and its settings."""


@dataclass(frozen=True, slots=True)
class Dialogues:
    """The conversations of one testbed under one system, by its primary metric.

    Attributes:
        testbed: the testbed's node id.
        system: the system that answered.
        metric: the primary metric.
        n: number of conversations with a scored turn; each setting and each repeat of a conversation counts.
        n_complete: number of conversations in which every turn is scored.
        mean: mean over the conversations of the mean of their scored turns; None if no turn is scored.
        whole: share of the complete conversations without a missed turn, see `misses.is_miss`; None without a complete
            one.
        rounds: (round, the metric over the turns of all conversations in this round), in the order of the rounds.
    """

    testbed: str
    system: str
    metric: str
    n: int
    n_complete: int
    mean: float | None
    whole: float | None
    rounds: tuple[tuple[str, Cell], ...]


def dialogues_of(
    metric: str, binary: bool, higher_is_better: bool, gates: Sequence[Gate], outcomes: Sequence[Outcome]
) -> Dialogues | None:
    """Return the scores of the conversations; None if no conversation has two turns.

    Args:
        metric: the testbed's primary metric.
        binary: whether its values are 0 or 1.
        higher_is_better: its direction.
        gates: the testbed's gates, which define a miss.
        outcomes: the outcomes of one testbed under one system; skipped ones are left out.
    """
    conversations: dict[tuple[str | None, ...], list[Outcome]] = {}
    rounds: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status != "skipped" and {"dialogue", "round"} <= outcome.facets.keys():
            conversations.setdefault(tuple(outcome.facets.get(name) for name in _SETTINGS), []).append(outcome)
            rounds.setdefault(outcome.facets["round"], []).append(outcome)
    if all(len(turns) < 2 for turns in conversations.values()):
        return None
    means, all_turns_pass = [], []
    for turns in conversations.values():
        values = [value_of(metric, turn) if turn.status == "scored" else None for turn in turns]
        known = [value for value in values if value is not None]
        if known:
            means.append(fsum(known) / len(known))
        if len(known) == len(turns):
            all_turns_pass.append(not any(is_miss(turn, metric, higher_is_better, gates) for turn in turns))
    first = next(iter(conversations.values()))[0]
    return Dialogues(
        testbed=first.testbed,
        system=first.system,
        metric=metric,
        n=len(means),
        n_complete=len(all_turns_pass),
        mean=fsum(means) / len(means) if means else None,
        whole=sum(all_turns_pass) / len(all_turns_pass) if all_turns_pass else None,
        rounds=tuple((name, cell_of(metric, binary, rounds[name])) for name in sorted(rounds, key=sort_key)),
    )
