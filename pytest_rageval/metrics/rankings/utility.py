"""``erag:MEASURE``: judge each retrieved document by the answer from that document alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.metrics.rankings.cutoffs import cut
from pytest_rageval.metrics.rankings.ranked_passages import NO_RANKING, by_rank
from pytest_rageval.metrics.rankings.ranking import MEASURES
from pytest_rageval.metrics.rankings.trec import TREC_EVAL
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["NO_SYSTEM", "erag_metric"]

NO_SYSTEM = Score(reason="system_unavailable")
"""Answers were recorded, and no system is available for further answers."""

_ANY_LABELS: dict[str, Callable[[Sequence[float], int], float]] = {
    "P": lambda labels, k: sum(labels[:k]) / k,
    "Success": lambda labels, k: max(labels[:k], default=0.0),
}
"""Measures of labels in 0..1, best rank first; for 0/1 labels they equal trec_eval's."""

_MEASURES = {family: measure for family, measure in MEASURES.items() if family != "Judged"}
"""Without "Judged", because every document is judged here."""


def erag_metric(name: str, head: str, get: Callable[[str], Metric]) -> Metric:
    """Return the metric ``erag:MEASURE``; measures that need 0/1 labels are computed by trec_eval.

    Raises:
        SettingError: MEASURE is not a ranking measure.
    """
    family = name.removeprefix(f"{head}:").partition("@")[0]
    if family not in _MEASURES:
        advice = f"write {head}:MEASURE, as {head}:P@5, with one of {', '.join(_MEASURES)}"
        raise SettingError(f"metric {short_repr(name)} judges by no measure of rankings; {advice}")
    graded = _ANY_LABELS.get(family)
    if graded is None:
        TREC_EVAL.prepare()

    def erag(sample: Sample, k: int | None) -> Score:
        """Score a ranking by the system's answers from each of its documents alone.

        Formula: MEASURE of the ranking; the labels of its documents are their grades, and no other document is judged.
        The label of a document is the score, by the testbed's first answer metric, of the answer to the question with
        that document as the only passage. For labels in 0..1, P@k is their mean over the first k ranks, even if the
        ranking is shorter, and Success@k is the highest of them.
        Range: 0..1, higher is better. Empty input: an empty ranking scores 0; the reason is no_ranking for an answer
        without one, system_unavailable for recorded answers, no_texts for passages without a text, and the label's
        own for a label without a value.
        Source: eRAG (Salemi and Zamani, SIGIR 2024), where short and empty rankings fail or are left out.
        """
        values = _values(sample)
        if isinstance(values, Score):
            return values
        if not values:
            return Score(0.0)
        if graded is not None and k is not None:
            return Score(graded(list(values.values()), k))
        return _MEASURES[family].compute(_JUDGED.sample(sample, values), k)

    measure = replace(_MEASURES[family], compute=erag, binary=False, needs_all=False)
    return replace(cut(name, f"{head}:{family}", measure), labels="any" if graded else "binary")


def _values(sample: Sample) -> Mapping[str, float] | Score:
    """Return the label of each document, best rank first, or the score of a ranking that cannot be judged."""
    ranking, labels = sample.answer.ranking, sample.labels
    if ranking is None:
        return NO_RANKING
    values: dict[str, float] = {}
    for item in by_rank(ranking):
        label = NO_SYSTEM if labels is None else labels[item.doc_id]
        if label.value is None:
            return Score(reason=label.reason)
        values[item.doc_id] = label.value
    return values


class _Judged:
    """Judge the documents of a sample by their labels, once for all measures: trec_eval runs once for each sample."""

    def __init__(self) -> None:
        self._latest: tuple[Sample | None, Sample | None] = (None, None)

    def sample(self, sample: Sample, values: Mapping[str, float]) -> Sample:
        """Return the sample with its labels as grades; cached for the latest sample."""
        latest, judged = self._latest
        if judged is None or latest is not sample:
            qrels = {name: int(value) for name, value in values.items()}
            instance = replace(sample.case.instance, qrels=qrels, evidence=())
            judged = replace(sample, case=replace(sample.case, relevance="ids", instance=instance))
            self._latest = (sample, judged)
        return judged


_JUDGED = _Judged()
