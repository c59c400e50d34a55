"""Read people's preferences between the answers of two systems: JSON Lines or CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.sheets import read_sheet
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.judges.values import NUMBERS, Worth
from pytest_rageval.model.facets import facet_text

__all__ = ["PairLabel", "holds_pairs", "read_pairs"]

PREFERRED = "preferred"
"""The key that only files with pairs have."""

TIE = "tie"

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")


@dataclass(frozen=True, slots=True)
class PairLabel:
    """One person's preference between two answers to one case.

    Attributes:
        id: the id of the case.
        systems: the names of the two systems, A and B.
        preference: a value in -1..1: 1 prefers A, -1 prefers B, 0 is a tie; None if it is blank.
        answers: the compared answers; an unknown answer is None.
        metric: the metric that the preference is about; "" for any.
        rater: the name of the person, or "".
        where: ``file:line`` of the preference.
    """

    id: str
    systems: tuple[str, str]
    preference: float | None
    answers: tuple[str | None, str | None] = (None, None)
    metric: str = ""
    rater: str = ""
    where: str = ""


def holds_pairs(path: Path) -> bool:
    """Return whether a file of labels contains pairs, that is, a row with the key ``preferred``.

    Raises:
        DataError: the file cannot be read.
    """
    return any(PREFERRED in record for _, record in read_sheet(path))


def read_pairs(path: Path, worth: Worth = NUMBERS) -> tuple[PairLabel, ...]:
    """Return the pairs of a file: JSON Lines, one JSON array, or CSV (``.csv``).

    Keys: ``id``, ``A`` and ``B`` (names of systems), ``preferred`` and, if known, ``answer_A``, ``answer_B``,
    ``metric`` and ``rater``. ``preferred`` is the name of one of the two systems, ``A``, ``B`` or ``tie``; with a scale
    it may also be a number on the scale, where positive numbers prefer A. A blank or null preference is None.

    Args:
        path: the file.
        worth: the scale of numbers, symmetric about 0; without a scale, numbers are invalid.

    Raises:
        DataError: a row is invalid, or one person compares two answers twice.
        SettingError: labels have declared words, or the scale is not symmetric.
    """
    if worth.values:
        raise SettingError("--value has no effect on pairs; leave it out, or declare a --scale such as -2..2")
    if worth.scale is not None and worth.scale[0] != -worth.scale[1]:
        low, high = worth.scale
        raise SettingError(f"--scale {low:g}..{high:g}: pairs need a scale that is symmetric about 0, such as -2..2")
    name = shown_path(path)
    seen: dict[object, int] = {}
    pairs = []
    for line, record in read_sheet(path):
        pair = _pair(Fields(f"{name}:{line}", record), worth)
        sides = frozenset(zip(pair.systems, pair.answers, strict=True))
        key = (pair.id, sides, pair.metric, pair.rater)
        claim(seen, key, f"a preference of the same rater for the same pair of {short_repr(pair.id)}", name, line)
        pairs.append(pair)
    return tuple(pairs)


def _pair(record: Fields, worth: Worth) -> PairLabel:
    raw = record.values.get(PREFERRED, ...)
    if not (raw is None or (isinstance(raw, (str, int, float)) and not isinstance(raw, bool))):
        raise record.error(PREFERRED, "the name of A or of B, tie, or null if there is none yet")
    text = "" if raw is None else facet_text(raw).strip()
    record = record.without_nulls()
    systems = record.string("A").strip(), record.string("B").strip()
    if systems[0] == systems[1] or not all(systems):
        raise record.wrong("B", systems[1], "the name of a second system")
    return PairLabel(
        id=record.identifier("id").strip(),
        systems=systems,
        preference=_preference(record, text, systems, worth) if text else None,
        answers=(record.string("answer_A", "").strip() or None, record.string("answer_B", "").strip() or None),
        metric=record.string("metric", "").strip(),
        rater=record.identifier("rater").strip() if record.values.get("rater") else "",
        where=record.where,
    )


def _preference(record: Fields, text: str, systems: Sequence[str], worth: Worth) -> float:
    """Return a preference in -1..1; the names of systems have priority over the letters A and B."""
    words = {"a": 1.0, "b": -1.0, TIE: 0.0}
    if text in systems:
        return 1.0 if text == systems[0] else -1.0
    if text.casefold() in words:
        return words[text.casefold()]
    wanted = f"{short_repr(systems[0])}, {short_repr(systems[1])}, A, B or tie"
    if worth.scale is None:
        raise record.wrong(
            PREFERRED, record.values[PREFERRED], f"{wanted}; declare a scale for numbers (--scale -2..2)"
        )
    number = float(text) if _NUMBER.fullmatch(text) else None
    low, high = worth.scale
    if number is None or not low <= number <= high or (worth.whole and not number.is_integer()):
        kind = "a whole number" if worth.whole else "a number"
        raise record.wrong(PREFERRED, record.values[PREFERRED], f"{wanted}, or {kind} in {low:g}..{high:g}")
    return number / high
