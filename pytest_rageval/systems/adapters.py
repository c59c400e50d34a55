"""Adapt systems of LangChain and LlamaIndex, recognised by their methods."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, cast

from pytest_rageval.model.case import Query
from pytest_rageval.model.protocols import System

__all__ = ["adapt_system"]

METHODS = (("ainvoke", "invoke"), ("aquery", "query"))
"""For LangChain and LlamaIndex: the async method and the sync one."""

QUESTION = ("question", "query", "input")
CONTEXT = "context"
HISTORY = ("chat_history", "history")
MESSAGES = "messages"
"""The keys of a chain's input that a query can fill."""


class _SyncAdapter:
    """A system that calls a sync method of another library's object.

    Args:
        method: answers the question.
        to_input: converts the query to the method's argument.
        name: the name of the object in messages.
    """

    def __init__(self, method: Callable[[object], object], to_input: Callable[[Query], object], name: str) -> None:
        self._method = method
        self._to_input = to_input
        self.__name__ = name

    def __call__(self, query: Query) -> object:
        """Return the object's result; `to_answer` converts it."""
        return self._method(self._to_input(query))


class _AsyncAdapter:
    """Like `_SyncAdapter`, for an async method."""

    def __init__(
        self, method: Callable[[object], Awaitable[object]], to_input: Callable[[Query], object], name: str
    ) -> None:
        self._method = method
        self._to_input = to_input
        self.__name__ = name

    async def __call__(self, query: Query) -> object:
        """Return the object's result; `to_answer` converts it."""
        return await self._method(self._to_input(query))


def adapt_system(value: object) -> System | None:
    """Return a user's system as a callable; None if the value is no system.

    A callable is returned unchanged, unless it is a LangChain runnable. Any other object needs a method ``invoke``,
    ``ainvoke``, ``query`` or ``aquery``. The method gets the question; a runnable whose input schema is a dict gets its
    keys: the question, the passages as ``context``, the turns as ``chat_history``. The async method is preferred,
    unless it only wraps the sync one.
    """
    runnable = all(callable(getattr(type(value), name, None)) for name in ("get_input_jsonschema", "invoke"))
    if isinstance(value, type) or (callable(value) and not runnable):
        return cast("System", value)
    name = str(getattr(value, "__name__", type(value).__name__))
    for async_name, sync_name in METHODS:
        async_method, method = getattr(value, async_name, None), getattr(value, sync_name, None)
        to_input = _input_of(value) if runnable else _question
        if callable(async_method) and (not callable(method) or not _wraps_sync(value, async_method)):
            return cast("System", _AsyncAdapter(async_method, to_input, name))
        if callable(method):
            return cast("System", _SyncAdapter(method, to_input, name))
    return None


def _wraps_sync(value: object, method: Any) -> bool:
    """Return whether the library's async method only calls the sync one."""
    if not inspect.iscoroutinefunction(inspect.unwrap(method)):
        return True
    owner = str(getattr(inspect.unwrap(method), "__qualname__", "")).partition(".")[0]
    if owner == "RunnableLambda":
        return not hasattr(value, "afunc")
    custom = str(getattr(getattr(type(value), "acustom_query", None), "__qualname__", "")).partition(".")[0]
    return owner == "Runnable" or custom == "CustomQueryEngine"


def _question(query: Query) -> object:
    return query.question


def _input_of(runnable: Any) -> Callable[[Query], object]:
    """Return a function that converts a query to a runnable's input.

    If the input is a dict whose keys the schema does not name, it gets the keys `QUESTION`.
    """
    try:
        schema = runnable.get_input_jsonschema()
    except Exception:  # not every user type has a schema
        return _question
    names = schema.get("properties", {})
    first = runnable
    while hasattr(first, "first"):  # a RunnableSequence
        first = first.first
    if type(first).__name__ == "RunnableAssign" and names.keys() <= {"root"}:  # a dict, but its schema hides that
        names = {}
    elif schema.get("type") != "object" or (names and not {*QUESTION, MESSAGES}.intersection(names)):
        return _question
    return lambda query: _fill(query, names or QUESTION)


def _fill(query: Query, names: Any) -> dict[str, object]:
    """Return the parts of a query that a schema names; the chain itself reports a missing key."""
    values: dict[str, object] = {name: query.question for name in QUESTION if name in names}
    turns = [message for turn in query.history for message in (("human", turn.question), ("ai", turn.answer))]
    values.update({name: turns for name in HISTORY if name in names})
    if MESSAGES in names:
        values[MESSAGES] = [*turns, ("human", query.question)]
    if CONTEXT in names and query.passages is not None:
        values[CONTEXT] = "\n\n".join(passage.text for passage in query.passages)
    return values
