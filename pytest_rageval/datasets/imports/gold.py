"""Convert gold answers of imported rows to aliases (any matches) or slots (all match)."""

from __future__ import annotations

from pytest_rageval.datasets.imports.cells import list_items
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError

__all__ = ["gold_of"]


def gold_of(where: str, name: str, value: object, between: str | None, *, slots: bool) -> JsonObject:
    """Return the answers of a row as the ``answers`` or ``slots`` of a record.

    A list of texts contains aliases of one answer. With ``slots``, a list that contains lists contains slots: an inner
    list has the aliases of one slot, and a text is a slot with one alias.

    Args:
        where: ``file:line`` of the row.
        name: the field, for messages.
        value: the value of the field.
        between: see `list_items`.
        slots: whether lists inside the list are slots.

    Raises:
        DataError: the list contains lists, but ``slots`` is False.
    """
    answers = list_items(value, between)
    if not any(isinstance(answer, list) for answer in answers):
        return {"answers": answers}
    if not slots:
        problem = f"{name}: found lists within a list; add --slots if every inner list must match"
        raise DataError(where, problem)
    return {"slots": [answer if isinstance(answer, list) else [answer] for answer in answers]}
