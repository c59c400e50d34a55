"""``erag:MEASURE``: judge each document by the answer that the system gives from it alone."""

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
"""The reason if the answers are recorded, and no system can give more answers."""

_ANY_LABELS: dict[str, Callable[[Sequence[float], int], float]] = {
    "P": lambda labels, k: sum(labels[:k]) / k,
    "Success": lambda labels, k: max(labels[:k], default=0.0),
}
"""Family -> measure of labels in 0..1, best rank first, with a cutoff; for labels 0 and 1 it equals trec_eval's."""

_MEASURES = {family: measure for family, measure in MEASURES.items() if family != "Judged"}
"""Family -> measure, without "Judged", because every retrieved document has a label here."""


def erag_metric(name: str, head: str, get: Callable[[str], Metric]) -> Metric:
    """Return the metric ``erag:MEASURE``; measures that need 0/1 labels are computed by trec_eval.

    Raises:
        SettingError: MEASURE is not a ranking measure.
    """
    family = name.removeprefix(f"{head}:").partition("@")[0]
    if family not in _MEASURES:
        advice = f"write {head}:MEASURE, for example {head}:P@5, with one of {', '.join(_MEASURES)}"
        raise SettingError(f"metric {short_repr(name)} names no ranking measure; {advice}")
    label_measure = _ANY_LABELS.get(family)
    if label_measure is None:
        TREC_EVAL.prepare()

    def erag(sample: Sample, k: int | None) -> Score:
        """Score a ranking by the system's answers from each of its documents alone.

        Formula: MEASURE of the ranking, with the labels of its documents as grades and no other judged document. The
        system answers the question with one document as the only passage, and the testbed's first answer metric scores
        that answer: this score is the label of the document. For labels in 0..1, P@k is their mean over the first k
        ranks, even if the ranking is shorter, and Success@k is the highest of them.
        Range: 0..1, higher is better. Empty input: an empty ranking scores 0; the reason is no_ranking for an answer
        without a ranking, system_unavailable for recorded answers, no_texts for passages without a text, and for a
        label without a value the reason of the label.
        Source: eRAG (Salemi and Zamani, SIGIR 2024), whose code fails on short and empty rankings or leaves them out.
        """
        values = _values(sample)
        if isinstance(values, Score):
            return values
        if not values:
            return Score(0.0)
        if label_measure is not None and k is not None:
            return Score(label_measure(list(values.values()), k))
        return _MEASURES[family].compute(_LABELLED.sample(sample, values), k)

    measure = replace(_MEASURES[family], compute=erag, binary=False, needs_all=False)
    return replace(cut(name, f"{head}:{family}", measure), labels="any" if label_measure else "binary")


def _values(sample: Sample) -> Mapping[str, float] | Score:
    """Return document id -> value of its label, best rank first, or a score with the reason why there are none."""
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


class _LabelledSamples:
    """Turn the labels of a sample into grades, once for all measures, so trec_eval runs once for each sample."""

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


_LABELLED = _LabelledSamples()
