"""Adapt a user's retriever, recognised by its methods: LangChain, LlamaIndex or a callable."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, cast

from pytest_rageval.errors import SystemContractError, short_repr
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.retrieval.adapt_results import ranking_of

__all__ = ["AsyncCalling", "Calling", "adapted"]

METHODS = (("retrieve", "aretrieve", "_aretrieve"), ("invoke", "ainvoke", "_aget_relevant_documents"))
"""For LlamaIndex and LangChain: the sync method, the async method, and the hook a subclass overrides to be async."""

COUNTS = ("k", "top_k", "topk", "n", "limit", "n_results", "num_results")
"""Usual names of the parameter that limits the number of passages."""

ACCEPTED = (
    "an object with search(query, k), a LangChain or LlamaIndex retriever, or a callable that takes the query and "
    "returns texts, (text, score) pairs, dicts or a Ranking"
)


class Calling:
    """A retriever that calls a retriever of another library and converts its results to a `Ranking`.

    Args:
        ask: takes the query and the number of passages; it may return more.
        name: the name of that retriever in messages.
    """

    def __init__(self, ask: Callable[[str, int], object], name: str) -> None:
        self._ask = ask
        self.__name__ = name

    def search(self, query: str, k: int) -> Ranking:
        """Return the first ``k`` passages; raise `SystemContractError` if the results are not passages."""
        return ranking_of(self._ask(query, k), k, self.__name__)


class AsyncCalling:
    """Like `Calling`, for an async function."""

    def __init__(self, ask: Callable[[str, int], Awaitable[object]], name: str) -> None:
        self._ask = ask
        self.__name__ = name

    async def search(self, query: str, k: int) -> Ranking:
        """Return the first ``k`` passages; raise `SystemContractError` if the results are not passages."""
        return ranking_of(await self._ask(query, k), k, self.__name__)


def adapted(value: object) -> Retriever:
    """Return a user's retriever as a `Retriever`; an object with ``search(query, k)`` is returned unchanged.

    Other objects are recognised by their methods: ``similarity_search(query, k=)`` means a LangChain vector store,
    ``retrieve(query)`` a LlamaIndex retriever, ``invoke(query)`` a LangChain retriever or another runnable. Any other
    callable is called. A library's async method is used only if a subclass overrides it, because the default only wraps
    the sync method. A callable also receives the number of passages if its second parameter has no default, or if a
    parameter has a name from `COUNTS`.

    Raises:
        SystemContractError: the value is none of these.
    """
    name = str(getattr(value, "__name__", type(value).__name__))
    if isinstance(value, type):
        raise SystemContractError(f"rag_retriever gave the class {name}; give an instance: {name}()")
    store = getattr(value, "similarity_search", None)
    if callable(store):  # a vector store also has a `search`, with other arguments
        return Calling(lambda query, k: store(query, k=k), name)
    if callable(getattr(value, "search", None)):
        return cast("Retriever", value)
    for sync_name, async_name, async_hook in METHODS:
        if callable(getattr(value, sync_name, None)) or callable(getattr(value, async_name, None)):
            return _from_library(value, sync_name, async_name, async_hook, name)
    if not callable(value):
        raise SystemContractError(f"rag_retriever gave {type(value).__name__} {short_repr(value)}; give {ACCEPTED}")
    ask = _with_count(value)
    return _awaiting(ask, name) if _is_async(value) else Calling(ask, name)


def _from_library(value: object, sync_name: str, async_name: str, async_hook: str, name: str) -> Retriever:
    defining_class = getattr(getattr(type(value), async_hook, None), "__qualname__", "BaseRetriever.").partition(".")[0]
    call = getattr(value, sync_name, None)
    if callable(getattr(value, async_name, None)) and (not callable(call) or defining_class != "BaseRetriever"):
        return _awaiting(lambda query, k: getattr(value, async_name)(query), name)
    return Calling(lambda query, k: cast("Any", call)(query), name)


def _awaiting(ask: Callable[[str, int], Any], name: str) -> Retriever:
    return cast("Retriever", AsyncCalling(ask, name))  # callers check whether `search` is a coroutine function


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__"))  # noqa: B004, B009


def _with_count(function: Callable[..., object]) -> Callable[[str, int], object]:
    """Return a function of query and count, which drops the count if ``function`` does not accept one."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function written in C
        parameters = []
    second = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)][1:2]
    if any(each.default is each.empty or each.name in COUNTS for each in second):
        return function
    for each in parameters:
        if each.name in COUNTS and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            return lambda query, k: function(query, **{each.name: k})
    return lambda query, k: function(query)
