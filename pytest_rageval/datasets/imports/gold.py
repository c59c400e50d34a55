"""Gold answers of imported rows: aliases, any of which is right, or slots, each of which must be met."""

from __future__ import annotations

from pytest_rageval.datasets.imports.cells import listed
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError

__all__ = ["gold_of"]


def gold_of(where: str, name: str, value: object, between: str | None, *, slots: bool) -> JsonObject:
    """Return the answers of a row as the ``answers`` or ``slots`` of a record.

    A list of texts holds aliases of one answer. A list that holds lists is the slots, where ``slots`` says so: each
    list within it holds the aliases of one slot, and a text beside them is a slot with one alias.

    Args:
        where: ``file:line`` of the row.
        name: the field, for messages.
        value: what the field holds.
        between: see `listed`.
        slots: whether lists within a list are slots.

    Raises:
        DataError: there are lists within the list, and nobody said what they are.
    """
    answers = listed(value, between)
    if not any(isinstance(answer, list) for answer in answers):
        return {"answers": answers}
    if not slots:
        problem = f"{name}: found lists within a list; add --slots if each has to be met, by any text in it"
        raise DataError(where, problem)
    return {"slots": [answer if isinstance(answer, list) else [answer] for answer in answers]}
