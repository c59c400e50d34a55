"""Check answers for the gold answer: accuracy, slot recall, has answer."""

from __future__ import annotations

from pytest_rageval.metrics.shared.right_answer import answer_hits, is_right
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["ACCURACY", "HAS_ANSWER", "NO_GOLD", "SLOT_RECALL", "accuracy", "has_answer", "slot_recall"]

NO_GOLD = Score.not_applicable("no_gold")


def accuracy(sample: Sample) -> Score:
    """Score whether the answer contains every gold slot.

    Formula: 1 if the answer meets an alias of each slot (see `right_answer.answer_hits`), else 0. An answer meets
    an alias if it contains the alias, or if the rule of ``numerical_accuracy`` decides that it states the numbers of
    the alias. A right answer with a rejection still scores 1 (in RGB's code a rejection overrides it:
    ``rgb_all_rate_compat``).
    Range: 0 or 1, higher is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: RGB (Chen et al., AAAI 2024), accuracy, with Unicode folding added, and numbers compared as numbers.
    """
    instance = sample.case.instance
    return Score(float(is_right(instance, sample.answer.text))) if instance.gold else NO_GOLD


def slot_recall(sample: Sample) -> Score:
    """Score the share of gold slots that the answer contains.

    Formula: slots that the answer meets (as in `accuracy`) / slots.
    Range: 0..1, higher is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: the per-slot labels of RGB's information integration, averaged instead of joined with "and".
    """
    hits = answer_hits(sample.case.instance, sample.answer.text)
    return Score(sum(hit is not None for hit in hits) / len(hits)) if hits else NO_GOLD


def has_answer(sample: Sample) -> Score:
    """Score whether the answer contains any alias of any gold slot.

    Formula: 1 if the answer meets at least one slot (as in `accuracy`), else 0. With one slot it equals accuracy.
    Range: 0 or 1, higher is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: the "has answer" of open-domain question answering (Chen et al., ACL 2017), applied to the answer.
    """
    hits = answer_hits(sample.case.instance, sample.answer.text)
    return Score(float(any(hit is not None for hit in hits))) if hits else NO_GOLD


ACCURACY = Metric("accuracy", accuracy, binary=True)
SLOT_RECALL = Metric("slot_recall", slot_recall)
HAS_ANSWER = Metric("has_answer", has_answer, binary=True)
