"""Link the turns of a conversation, for histories with the system's own answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_rageval.errors import DataError, SettingError, short_repr
from pytest_rageval.model.case import Case
from pytest_rageval.testbeds.settings import AXES

__all__ = ["with_earlier"]

_Place = tuple[str | None, ...]
"""A conversation under one setting."""


def with_earlier(cases: Sequence[tuple[str, Case]], where: str) -> list[tuple[str, Case]]:
    """Return the named cases of a testbed, with their earlier turns.

    The facets ``dialogue`` and ``round`` (from 1) mark a turn. A case without them keeps the history of its record.

    Raises:
        SettingError: no case is a turn of a conversation.
        DataError: a round is not a number, is a duplicate, or is missing before a later one.
    """
    rounds: dict[_Place, dict[int, Case]] = {}
    for _, case in cases:
        if "dialogue" in case.facets:
            turns = rounds.setdefault(_place(case), {})
            at = _round(case)
            first = turns.setdefault(at, case)
            if first is not case:
                problem = (
                    f"round {at} of dialogue {short_repr(case.facets['dialogue'])} is {short_repr(first.id)} already"
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
        raise DataError(case.instance.origin, f"round: {what}, wanted a number from 1 on, as history is 'own'")
    return int(text)
