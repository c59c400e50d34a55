"""Several retrievers as one: their ranks, fused."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_rageval.errors import SettingError, did_you_mean, found
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.adapt_retriever import adapted
from pytest_rageval.retrieval.build_context import RetrieverParts
from pytest_rageval.retrieval.checks import checked
from pytest_rageval.retrieval.retriever_params import Params

__all__ = ["HybridRetriever", "build", "fused"]

SUMS = ("build_s", "load_s", "disk_bytes", "resident_bytes")


def build(parts: RetrieverParts) -> Retriever:
    """Return the retrievers that are named, as one.

    Its settings are ``retrievers`` (``["bm25", "dense"]``), ``rrf_k`` (60), ``depth`` (100: passages that each is asked
    for), and those of each, as ``bm25.k1``.

    Raises:
        SettingError: a setting cannot be used, here or by one of them, or one cannot be fused.
    """
    params = Params({name: value for name, value in parts.params.items() if "." not in name})
    names = params.names("retrievers", ("bm25", "dense"))
    rrf_k, depth = params.number("rrf_k", 60.0), params.whole("depth", 100)
    params.finish()
    theirs: dict[str, dict[str, object]] = {name: {} for name in names}
    for name, value in parts.params.items():
        of, dot, setting = name.rpartition(".")
        if dot and of not in theirs:
            raise SettingError(f"rag_retriever_params has {found(name)}; {did_you_mean(of, theirs)}")
        if dot:
            theirs[of][setting] = value
    return HybridRetriever({name: _part(name, parts, theirs[name]) for name in names}, rrf_k, depth)


class HybridRetriever:
    """A `Retriever` that asks others and fuses their ranks.

    Args:
        of: name -> retriever, at least one.
        rrf_k: how little the first ranks stand out, 0 or more.
        depth: passages that each is asked for, at least; 1 or more.
    """

    def __init__(self, of: Mapping[str, Retriever], rrf_k: float = 60.0, depth: int = 100) -> None:
        self._of = dict(of)
        self._rrf_k = rrf_k
        self._depth = depth
        self.in_place = all(getattr(part, "in_place", False) for part in self._of.values())

    @property
    def facts(self) -> dict[str, object]:
        """What there is to tell of it: its settings, those of each as ``bm25.k1``, and seconds and bytes of all."""
        told = {name: dict(getattr(part, "facts", None) or {}) for name, part in self._of.items()}
        own: dict[str, object] = {"retriever": "hybrid", "retrievers": ", ".join(self._of)}
        own |= {"rrf_k": self._rrf_k, "depth": self._depth}
        own |= {name: _sum([facts.get(name) for facts in told.values()]) for name in SUMS}
        return own | {f"{of}.{name}": value for of, facts in told.items() for name, value in facts.items()}

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` best passages by the sum of their fused ranks, best first.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query").
        """
        checked(query, k)
        depth = max(k, self._depth)
        rankings = [part.search(query, depth) for part in self._of.values()]
        return Ranking(fused(rankings, self._rrf_k)[:k])


def fused(rankings: Sequence[Ranking], rrf_k: float) -> tuple[ScoredPassage, ...]:
    """Return the passages of all rankings by reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009).

    A passage scores the sum of ``1 / (rrf_k + rank)``, ranks from 1 on, over the rankings that have it:
    ``0 < score <= len(rankings) / (rrf_k + 1)``. Ties go to the better single rank, then to the id that sorts first, so
    that the order of the rankings is of no account.
    """
    ranks: dict[str, list[int]] = {}
    passages: dict[str, ScoredPassage] = {}
    for ranking in rankings:
        for rank, doc_id in enumerate(dict.fromkeys(ranking.doc_ids), 1):
            ranks.setdefault(doc_id, []).append(rank)
        for passage in ranking:
            if not getattr(passages.get(passage.doc_id), "text", ""):  # one who knows the text goes before who does not
                passages[passage.doc_id] = passage
    scores = {doc_id: math.fsum(1 / (rrf_k + rank) for rank in each) for doc_id, each in ranks.items()}
    order = sorted(scores, key=lambda doc_id: (-scores[doc_id], min(ranks[doc_id]), doc_id))
    return tuple(replace(passages[doc_id], score=scores[doc_id]) for doc_id in order)


def _part(name: str, parts: RetrieverParts, params: Mapping[str, object]) -> Retriever:
    if parts.get is None:
        raise SettingError("the retriever 'hybrid' is made of others, and there is nobody to ask for them by name")
    factory = parts.get(name)
    try:
        part = adapted(factory(replace(parts, params=params)))
    except SettingError as error:
        raise SettingError(f"{error} (of the {name} in 'hybrid': its settings begin with '{name}.')") from error
    if inspect.iscoroutinefunction(part.search):
        raise SettingError(f"the retriever {found(name)} cannot be in 'hybrid', as its search is a coroutine function")
    return part


def _sum(values: Sequence[object]) -> float | None:
    numbers = [value for value in values if isinstance(value, int | float)]
    return sum(numbers) if len(numbers) == len(values) else None
