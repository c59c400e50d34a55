"""Systems of LangChain and LlamaIndex, called with what they take; recognized by their methods, never imported."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, cast

from pytest_rageval.model.case import Query
from pytest_rageval.model.protocols import System

__all__ = ["adapted_system"]

METHODS = (("ainvoke", "invoke"), ("aquery", "query"))
"""LangChain's and LlamaIndex's: the coroutine function, and the method that is called without one."""

QUESTION = ("question", "query", "input")
CONTEXT = "context"
HISTORY = ("chat_history", "history")
MESSAGES = "messages"
"""The keys of a chain's input that a query can fill."""


class _Calling:
    """A system that asks an object of another library.

    Args:
        ask: the method that answers.
        given: makes its argument from the query.
        name: what the object is called in messages.
    """

    def __init__(self, ask: Callable[[object], object], given: Callable[[Query], object], name: str) -> None:
        self._ask = ask
        self._given = given
        self.__name__ = name

    def __call__(self, query: Query) -> object:
        """Return what the object returns; `checked` reads it."""
        return self._ask(self._given(query))


class _Awaiting:
    """The same, awaited."""

    def __init__(self, ask: Callable[[object], Awaitable[object]], given: Callable[[Query], object], name: str) -> None:
        self._ask = ask
        self._given = given
        self.__name__ = name

    async def __call__(self, query: Query) -> object:
        """Return what the object returns; `checked` reads it."""
        return await self._ask(self._given(query))


def adapted_system(value: object) -> System | None:
    """Return a user's system as a callable; None if it is no system.

    A callable is returned as it is, except a LangChain runnable. Any other object needs ``invoke``, ``ainvoke``,
    ``query`` or ``aquery``. It gets the question, or a dict of what the input schema of a runnable asks for: the
    question, the passages as ``context``, the turns as ``chat_history``. The coroutine function is preferred, except
    where the library only wraps the sync one.
    """
    runnable = all(callable(getattr(type(value), name, None)) for name in ("get_input_jsonschema", "invoke"))
    if isinstance(value, type) or (callable(value) and not runnable):
        return cast("System", value)
    name = str(getattr(value, "__name__", type(value).__name__))
    for awaited, sync in METHODS:
        ask, call = getattr(value, awaited, None), getattr(value, sync, None)
        given = _input_of(value) if runnable else _question
        if callable(ask) and (not callable(call) or not _only_sync(value, ask)):
            return cast("System", _Awaiting(ask, given, name))
        if callable(call):
            return cast("System", _Calling(call, given, name))
    return None


def _only_sync(value: object, ask: Any) -> bool:
    """Return whether a library's async method runs nothing but the sync one."""
    if not inspect.iscoroutinefunction(inspect.unwrap(ask)):
        return True
    made = str(getattr(inspect.unwrap(ask), "__qualname__", "")).partition(".")[0]
    if made == "RunnableLambda":
        return not hasattr(value, "afunc")
    custom = str(getattr(getattr(type(value), "acustom_query", None), "__qualname__", "")).partition(".")[0]
    return made == "Runnable" or custom == "CustomQueryEngine"


def _question(query: Query) -> object:
    return query.question


def _input_of(runnable: Any) -> Callable[[Query], object]:
    """Return what makes a runnable's input from a query, by its input schema; a dict of any keys gets `QUESTION`."""
    try:
        schema = runnable.get_input_jsonschema()
    except Exception:  # not every type of a user's has a schema
        return _question
    names = schema.get("properties", {})
    first = runnable
    while hasattr(first, "first"):  # of a sequence
        first = first.first
    if type(first).__name__ == "RunnableAssign" and names.keys() <= {
        "root"
    }:  # a dict, although its schema says nothing
        names = {}
    elif schema.get("type") != "object" or (names and not {*QUESTION, MESSAGES}.intersection(names)):
        return _question
    return lambda query: _filled(query, names or QUESTION)


def _filled(query: Query, names: Any) -> dict[str, object]:
    """Return the parts of a query that a schema asks for; what is missing is for the chain to report."""
    made: dict[str, object] = {name: query.question for name in QUESTION if name in names}
    turns = [said for turn in query.history for said in (("human", turn.question), ("ai", turn.answer))]
    made.update({name: turns for name in HISTORY if name in names})
    if MESSAGES in names:
        made[MESSAGES] = [*turns, ("human", query.question)]
    if CONTEXT in names and query.passages is not None:
        made[CONTEXT] = "\n\n".join(passage.text for passage in query.passages)
    return made
