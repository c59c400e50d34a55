"""Link the turns of conversations for ``history="own"``, the system's own answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_rageval.errors import DataError, SettingError, short_repr
from pytest_rageval.model.case import Case
from pytest_rageval.testbeds.settings import AXES

__all__ = ["link_turns"]

_Place = tuple[str | None, ...]
"""A conversation in one combination of settings."""


def link_turns(cases: Sequence[tuple[str, Case]], where: str) -> list[tuple[str, Case]]:
    """Return the cases of a testbed with their ids; each turn of a conversation is linked to its earlier turns.

    A case is a turn if it has the facets ``dialogue`` and ``round`` (from 1). Other cases keep the history of their
    record.

    Raises:
        SettingError: no case is a turn of a conversation.
        DataError: a round is not a number, is a duplicate, or an earlier round is missing.
    """
    rounds: dict[_Place, dict[int, Case]] = {}
    for _, case in cases:
        if "dialogue" in case.facets:
            turns = rounds.setdefault(_place(case), {})
            at = _round(case)
            first = turns.setdefault(at, case)
            if first is not case:
                problem = (
                    f"round {at} of dialogue {short_repr(case.facets['dialogue'])} is already {short_repr(first.id)}"
                )
                raise DataError(case.instance.origin, f"{problem}, wanted each once")
    if not rounds:
        problem = "history 'own' has no effect: no record has the facets dialogue and round"
        raise SettingError(f"{where}: {problem}; leave it out, or add them")
    return [(name, _link(case, rounds[_place(case)]) if "dialogue" in case.facets else case) for name, case in cases]


def _link(case: Case, turns: dict[int, Case]) -> Case:
    last = _round(case)
    for number in range(1, last):
        if number not in turns:
            problem = f"round {last} of dialogue {short_repr(case.facets['dialogue'])} has no round {number} before it"
            raise DataError(case.instance.origin, f"{problem}, which history 'own' needs; add it")
    return replace(case, earlier=tuple(turns[number] for number in range(1, last)))


def _place(case: Case) -> _Place:
    return tuple(case.facets.get(name) for name in ("dialogue", *AXES))


def _round(case: Case) -> int:
    text = case.facets.get("round", "")
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 10_000):
        what = f"found {short_repr(text)}" if text else "is missing"
        raise DataError(case.instance.origin, f"round: {what}, wanted a number from 1, because history is 'own'")
    return int(text)
