"""A user's retriever as it is: LangChain's, LlamaIndex's or any callable, told by its methods; neither is imported."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, cast

from pytest_rageval.errors import SystemContractError, found
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.retrieval.adapt_results import ranking_of

__all__ = ["AsyncCalling", "Calling", "adapted"]

METHODS = (("retrieve", "aretrieve", "_aretrieve"), ("invoke", "ainvoke", "_aget_relevant_documents"))
"""LlamaIndex's and LangChain's: the method that is called, the one that is awaited, and what a subclass makes async."""

COUNTS = ("k", "top_k", "topk", "n", "limit", "n_results", "num_results")
"""What callables name the number of passages that they are to return."""

ACCEPTED = (
    "an object with search(query, k), a LangChain or LlamaIndex retriever, or a callable that is given the query and "
    "returns texts, (text, score) pairs, dicts or a Ranking"
)


class Calling:
    """A retriever that asks another one, and makes a `Ranking` of what that returns (see `ranking_of`).

    Args:
        ask: is given the query and how many passages are wanted; it may return more.
        name: what the other one is called in messages.
    """

    def __init__(self, ask: Callable[[str, int], object], name: str) -> None:
        self._ask = ask
        self.__name__ = name

    def search(self, query: str, k: int) -> Ranking:
        """Return the first ``k`` passages; what can not be read as passages is a `SystemContractError`."""
        return ranking_of(self._ask(query, k), k, self.__name__)


class AsyncCalling:
    """The same, awaited."""

    def __init__(self, ask: Callable[[str, int], Awaitable[object]], name: str) -> None:
        self._ask = ask
        self.__name__ = name

    async def search(self, query: str, k: int) -> Ranking:
        """Return the first ``k`` passages; what can not be read as passages is a `SystemContractError`."""
        return ranking_of(await self._ask(query, k), k, self.__name__)


def adapted(value: object) -> Retriever:
    """Return a retriever of a user's as a `Retriever`; one with ``search(query, k)`` is returned as it is.

    The others are told by their methods: a LangChain vector store by ``similarity_search(query, k=)``, a LlamaIndex
    retriever by ``retrieve(query)``, a LangChain one (or other runnable) by ``invoke(query)``; else it is called. The
    libraries' async methods are awaited where a subclass has made them async, as by default they run or wait for the
    sync one; then that is called. A callable is given the number of passages, too, where its second parameter has no
    default, or one is named as `COUNTS` are.

    Raises:
        SystemContractError: it is none of these.
    """
    name = str(getattr(value, "__name__", type(value).__name__))
    if isinstance(value, type):
        raise SystemContractError(f"rag_retriever gave the class {name}; give an instance, as {name}()")
    store = getattr(value, "similarity_search", None)
    if callable(store):  # such a store has a `search` as well, of another kind
        return Calling(lambda query, k: store(query, k=k), name)
    if callable(getattr(value, "search", None)):
        return cast("Retriever", value)
    for sync, awaited, hook in METHODS:
        if callable(getattr(value, sync, None)) or callable(getattr(value, awaited, None)):
            return _of_library(value, sync, awaited, hook, name)
    if not callable(value):
        raise SystemContractError(f"rag_retriever gave {type(value).__name__} {found(value)}; give {ACCEPTED}")
    ask = _counted(value)
    return _awaiting(ask, name) if _is_async(value) else Calling(ask, name)


def _of_library(value: object, sync: str, awaited: str, hook: str, name: str) -> Retriever:
    made_async = getattr(getattr(type(value), hook, None), "__qualname__", "BaseRetriever.").partition(".")[0]
    call = getattr(value, sync, None)
    if callable(getattr(value, awaited, None)) and (not callable(call) or made_async != "BaseRetriever"):
        return _awaiting(lambda query, k: getattr(value, awaited)(query), name)
    return Calling(lambda query, k: cast("Any", call)(query), name)


def _awaiting(ask: Callable[[str, int], Any], name: str) -> Retriever:
    return cast("Retriever", AsyncCalling(ask, name))  # whoever asks looks whether `search` is a coroutine function


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__"))  # noqa: B004, B009


def _counted(function: Callable[..., object]) -> Callable[[str, int], object]:
    """Return what calls a function with the query, and with the number of passages where it takes that."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of a function in C
        parameters = []
    second = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)][1:2]
    if any(each.default is each.empty or each.name in COUNTS for each in second):
        return function
    for each in parameters:
        if each.name in COUNTS and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            return lambda query, k: function(query, **{each.name: k})
    return lambda query, k: function(query)
