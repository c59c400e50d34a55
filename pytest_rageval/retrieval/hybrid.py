"""The retriever ``hybrid``: reciprocal rank fusion of several retrievers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_rageval.errors import SettingError, did_you_mean, short_repr
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.adapt_retriever import adapted
from pytest_rageval.retrieval.checks import check_query
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.retriever_parts import RetrieverParts

__all__ = ["HybridRetriever", "build", "fuse"]

SUMMED_FACTS = ("build_s", "load_s", "disk_bytes", "resident_bytes")


def build(parts: RetrieverParts) -> Retriever:
    """Return a retriever that combines several others.

    Settings: ``retrievers`` (default ``["bm25", "dense"]``), ``rrf_k`` (60), ``depth`` (100 passages from each
    retriever) and the settings of each retriever, prefixed with its name, for example ``bm25.k1``.

    Raises:
        SettingError: a setting is invalid, or a retriever cannot be combined.
    """
    params = Params({name: value for name, value in parts.params.items() if "." not in name})
    names = params.names("retrievers", ("bm25", "dense"))
    rrf_k, depth = params.number("rrf_k", 60.0), params.whole("depth", 100)
    params.finish()
    settings_of: dict[str, dict[str, object]] = {name: {} for name in names}
    for name, value in parts.params.items():
        owner, dot, setting = name.rpartition(".")
        if dot and owner not in settings_of:
            raise SettingError(f"rag_retriever_params has {short_repr(name)}; {did_you_mean(owner, settings_of)}")
        if dot:
            settings_of[owner][setting] = value
    return HybridRetriever({name: _build_part(name, parts, settings_of[name]) for name in names}, rrf_k, depth)


class HybridRetriever:
    """A `Retriever` that fuses the rankings of others.

    Args:
        retrievers: name -> retriever; one or more.
        rrf_k: the constant of the fusion, 0 or more; a larger value reduces the weight of the first ranks.
        depth: minimum number of passages from each retriever, 1 or more.
    """

    def __init__(self, retrievers: Mapping[str, Retriever], rrf_k: float = 60.0, depth: int = 100) -> None:
        self._retrievers = dict(retrievers)
        self._rrf_k = rrf_k
        self._depth = depth
        self.in_place = all(getattr(part, "in_place", False) for part in self._retrievers.values())

    @property
    def facts(self) -> dict[str, object]:
        """The settings, the facts of each retriever (such as ``bm25.k1``), and total seconds and bytes."""
        facts_by_name = {name: dict(getattr(part, "facts", None) or {}) for name, part in self._retrievers.items()}
        combined: dict[str, object] = {"retriever": "hybrid", "retrievers": ", ".join(self._retrievers)}
        combined |= {"rrf_k": self._rrf_k, "depth": self._depth}
        combined |= {name: _sum([facts.get(name) for facts in facts_by_name.values()]) for name in SUMMED_FACTS}
        return combined | {
            f"{part}.{name}": value for part, facts in facts_by_name.items() for name, value in facts.items()
        }

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` best passages by their fused scores, best first.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query").
        """
        check_query(query, k)
        depth = max(k, self._depth)
        rankings = [part.search(query, depth) for part in self._retrievers.values()]
        return Ranking(fuse(rankings, self._rrf_k)[:k])


def fuse(rankings: Sequence[Ranking], rrf_k: float) -> tuple[ScoredPassage, ...]:
    """Return the passages of all rankings by reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009).

    The score of a passage is the sum of ``1 / (rrf_k + rank)`` over the rankings that contain it, with ranks from 1. So
    ``0 < score <= len(rankings) / (rrf_k + 1)``. For equal scores, the passage with the better single rank comes first,
    then the smaller id. The order of the rankings does not matter.
    """
    ranks: dict[str, list[int]] = {}
    passages: dict[str, ScoredPassage] = {}
    for ranking in rankings:
        for rank, doc_id in enumerate(dict.fromkeys(ranking.doc_ids), 1):
            ranks.setdefault(doc_id, []).append(rank)
        for passage in ranking:
            if not getattr(passages.get(passage.doc_id), "text", ""):  # prefer a retriever that returns the text
                passages[passage.doc_id] = passage
    scores = {doc_id: math.fsum(1 / (rrf_k + rank) for rank in each) for doc_id, each in ranks.items()}
    order = sorted(scores, key=lambda doc_id: (-scores[doc_id], min(ranks[doc_id]), doc_id))
    return tuple(replace(passages[doc_id], score=scores[doc_id]) for doc_id in order)


def _build_part(name: str, parts: RetrieverParts, params: Mapping[str, object]) -> Retriever:
    """Build one of the combined retrievers with its settings."""
    if parts.get is None:
        raise SettingError("the retriever 'hybrid' combines other retrievers, but none is available here")
    factory = parts.get(name)
    try:
        part = adapted(factory(replace(parts, params=params)))
    except SettingError as error:
        raise SettingError(f"{error} (for {name} in 'hybrid': its settings begin with '{name}.')") from error
    if inspect.iscoroutinefunction(part.search):
        raise SettingError(
            f"the retriever {short_repr(name)} cannot be in 'hybrid': its search is async; use a sync one"
        )
    return part


def _sum(values: Sequence[object]) -> float | None:
    """Return the sum of the values; None if a value is not a number."""
    numbers = [value for value in values if isinstance(value, int | float)]
    return sum(numbers) if len(numbers) == len(values) else None
