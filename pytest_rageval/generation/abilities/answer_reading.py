"""Parse a gold slot as a value that a rule can change, and decide whether a value is false."""

from __future__ import annotations

from typing import Any

from pytest_rageval.generation.abilities.answer import Answer, Kind
from pytest_rageval.generation.abilities.date_answers import date_answer
from pytest_rageval.generation.abilities.edit import Drop
from pytest_rageval.generation.abilities.name_answers import Names, name_answer
from pytest_rageval.generation.abilities.number_answers import number_answer
from pytest_rageval.generation.abilities.time_answers import time_answer
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.metrics.shared.quantities import numerical_verdict
from pytest_rageval.model.case import Instance

__all__ = ["is_decided", "read_answer"]


def read_answer(slot: tuple[str, ...], names: Names = ()) -> Answer[Any] | Drop:
    """Parse a slot of the gold as a listed name, a date, a time of day, a number or an amount of money.

    Args:
        slot: the aliases of the slot.
        names: lists of names, each of one kind.
    """
    name = name_answer(slot, names)
    if name is not None:
        return name
    answer = date_answer(slot) or time_answer(slot) or number_answer(slot)
    return answer or Drop("no_rule_for_answer", f"{slot[0]} is no number, date, time or listed name")


def is_decided(question: str, slot: tuple[str, ...], fakes: tuple[str, ...], kind: Kind) -> bool:
    """Return whether rules tell the fakes from the gold answer: each is wrong where the other one is right."""
    if not fakes or any(contains(one, other) or contains(other, one) for one in slot for other in fakes):
        return False
    if kind == "name":
        return True
    gold, fake_gold = Instance("", question, (slot,)), Instance("", question, (fakes,))
    return all(numerical_verdict(gold, fake) == 0.0 for fake in fakes) and all(
        numerical_verdict(fake_gold, alias) == 0.0 for alias in slot
    )
