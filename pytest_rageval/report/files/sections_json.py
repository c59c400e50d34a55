"""Encode and decode sections of the summary for results.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.dialogues import Dialogues
from pytest_rageval.analysis.people.trust import Trust
from pytest_rageval.analysis.repeats import Repeats
from pytest_rageval.report.files.matrix_json import encode_cell, pair_of

__all__ = [
    "decode_dialogues", "decode_repeats", "decode_trust", "encode_dialogues", "encode_repeats", "encode_trust",
]  # fmt: skip


def encode_repeats(repeats: Repeats) -> dict[str, Any]:
    """Return the statistics of repeats as builtins."""
    return asdict(repeats) | {"flips": list(repeats.flips), "always_missed": list(repeats.always_missed)}


def decode_repeats(plain: Mapping[str, Any]) -> Repeats:
    """Decode what `encode_repeats` encoded."""
    return Repeats(**{**plain, "flips": tuple(plain["flips"]), "always_missed": tuple(plain["always_missed"])})


def encode_dialogues(dialogues: Dialogues) -> dict[str, Any]:
    """Return the statistics of conversations as builtins."""
    rounds = [{"round": name, **encode_cell(cell)} for name, cell in dialogues.rounds]
    return asdict(dialogues) | {"rounds": rounds}


def decode_dialogues(plain: Mapping[str, Any]) -> Dialogues:
    """Decode what `encode_dialogues` encoded."""
    rounds = tuple((each["round"], _cell(each)) for each in plain["rounds"])
    return Dialogues(**{**plain, "rounds": rounds})


def encode_trust(trust: Trust) -> dict[str, Any]:
    """Return the agreement of a judge with people as builtins."""
    return asdict(trust) | {"ci95": pair_of(trust.ci95), "unused": dict(trust.unused)}


def decode_trust(plain: Mapping[str, Any]) -> Trust:
    """Decode what `encode_trust` encoded."""
    return Trust(**{**plain, "ci95": plain["ci95"] and tuple(plain["ci95"])})


def _cell(plain: Mapping[str, Any]) -> Cell:
    ci95 = plain["ci95"] and tuple(plain["ci95"])
    return Cell(
        plain["mean"],
        plain["n"],
        plain["n_unscored"],
        ci95,
        plain.get("n_cases"),
        plain.get("n_units"),
        plain.get("unit", ""),
    )
