"""Read a gold slot as a value that a rule can change, and decide that another value is wrong."""

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
    """Return a slot of the gold as a value of a kind: a name of a list, a date, a time of day, a number or money.

    Args:
        slot: its aliases.
        names: lists of names, each of one kind of things.
    """
    name = name_answer(slot, names)
    if name is not None:
        return name
    answer = date_answer(slot) or time_answer(slot) or number_answer(slot)
    return answer or Drop("no_rule_for_answer", f"{slot[0]} is no number, date, time or listed name")


def is_decided(question: str, slot: tuple[str, ...], fakes: tuple[str, ...], kind: Kind) -> bool:
    """Return whether a rule knows that each fake is not the gold answer, and that the gold is none of the fakes."""
    if not fakes or any(contains(one, other) or contains(other, one) for one in slot for other in fakes):
        return False
    if kind == "name":
        return True
    ours, theirs = Instance("", question, (slot,)), Instance("", question, (fakes,))
    return all(numerical_verdict(ours, fake) == 0.0 for fake in fakes) and all(
        numerical_verdict(theirs, alias) == 0.0 for alias in slot
    )
