"""Compute measures of one query with trec_eval itself, through pytrec_eval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from pytest_rageval.errors import CaseError, MissingDependencyError, short_repr
from pytest_rageval.metrics.rankings.ranked_passages import by_rank, scores_by_id
from pytest_rageval.metrics.rankings.relevance import judgement_sets
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.model.sample import Sample

__all__ = ["MAX_GRADE", "TREC_EVAL", "TrecEval"]

MAX_GRADE = 1_000
"""The highest valid grade of relevance; trec_eval's memory use grows with the grade."""


class TrecEval:
    """Compute all measures that were requested so far in one call, which costs little more than one measure.

    The values of the latest sample are cached.
    """

    def __init__(self) -> None:
        self._cutoffs: dict[str, set[int]] = {}
        self._measures: set[str] = set()
        self._latest: tuple[Sample | None, Mapping[str, float]] = (None, {})
        self._evaluator: Any = None

    def prepare(self) -> None:
        """Load pytrec_eval; raise `MissingDependencyError` if it is not installed."""
        if self._evaluator is None:
            try:
                # Skip pytrec_eval's Python wrapper, which parses all measure names for every evaluator.
                self._evaluator = import_module("pytrec_eval_ext").RelevanceEvaluator
            except ImportError:
                raise MissingDependencyError("a ranking metric", "ranking") from None

    def score(self, sample: Sample, measure: str, k: int | None = None) -> Score:
        """Return the score of a sample by a measure of trec_eval, such as "P" with a cutoff ``k``, or "map" without."""
        name = measure if k is None else f"{measure}_{k}"
        latest, values = self._latest
        if latest is not sample or name not in values:
            judged = judgement_sets(sample)
            if isinstance(judged, Score):
                return judged
            alternatives, ranking = judged
            if not ranking:
                return Score(0.0)  # trec_eval has no value for a query without results
            self._request(measure, k)
            values = _maxima([self._values(_grades(qrels), ranking) for qrels in alternatives])
            self._latest = (sample, values)
        return Score(values[name])

    def _request(self, measure: str, k: int | None) -> None:
        """Add a measure to the measures that each call computes."""
        cutoffs = self._cutoffs.setdefault(measure, set())
        if k is not None:
            cutoffs.add(k)
        self._measures = {f"{m}.{','.join(map(str, sorted(ks)))}" if ks else m for m, ks in self._cutoffs.items()}

    def _values(self, qrels: dict[str, int], ranking: Ranking) -> Mapping[str, float]:
        self.prepare()
        run = scores_by_id(ranking)
        ids = "".join(run) + "".join(qrels)
        if not ids.isascii() or "\0" in ids:
            qrels, run = _with_rank_ids(qrels, ranking)
        values: Mapping[str, float] = self._evaluator({"q": qrels}, self._measures).evaluate({"q": run})["q"]
        return values


def _maxima(alternatives: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """Return the maximum of each measure over the alternatives."""
    first, *others = alternatives
    return {name: max(value, *(other[name] for other in others)) for name, value in first.items()} if others else first


def _grades(judged: Mapping[str, int]) -> dict[str, int]:
    """Return the grades, negative ones as 0; raise `CaseError` for a grade above `MAX_GRADE`."""
    qrels = {name: max(int(grade), 0) for name, grade in judged.items()}
    for name, grade in qrels.items():
        if grade > MAX_GRADE:
            problem = f"the grade of {short_repr(name)} is {short_repr(grade)}, wanted at most {MAX_GRADE:,}"
            raise CaseError("bad_qrels", problem)
    return qrels


def _with_rank_ids(qrels: Mapping[str, int], ranking: Ranking) -> tuple[dict[str, int], dict[str, float]]:
    """Return judgements and scores with ranks instead of ids, because not every id is a valid C string."""
    ranks = {item.doc_id: rank for rank, item in enumerate(by_rank(ranking), 1)}
    judged = {str(ranks.get(name, -at)): grade for at, (name, grade) in enumerate(qrels.items(), 1)}
    return judged, {str(rank): float(-rank) for rank in ranks.values()}


TREC_EVAL = TrecEval()
