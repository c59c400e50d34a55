"""Answer metrics by the definitions of KILT and HotpotQA."""

from __future__ import annotations

from pytest_rageval.metrics.answers.squad import best_score, f1, is_chinese, normalize
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["HOTPOT_F1", "KILT_ACCURACY", "hotpot_f1", "kilt_accuracy"]

_LABELS = frozenset({"yes", "no", "noanswer"})
"""Normalised answers that are right or wrong as a whole."""


def kilt_accuracy(sample: Sample) -> Score:
    """Score whether the answer equals a reference, character by character.

    Formula: 1 if the answer equals a reference, ignoring white space around both, else 0; references as in
    `squad.exact_match`.
    Range: 0 or 1, higher is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: KILT (Petroni et al., NAACL 2021), accuracy.
    """
    return best_score(sample, lambda answer, reference: float(answer.strip() == reference.strip() != ""))


def hotpot_f1(sample: Sample) -> Score:
    """Score the overlap of tokens; yes, no and noanswer are right or wrong as a whole.

    Formula: max over the references of `squad.token_f1`; but 0 for a reference that differs from the answer if one of
    the two is yes, no or noanswer after SQuAD's normalisation.
    Range: 0..1, higher is better. Empty input: an answer or a reference without tokens scores 0, also against another
    one without tokens ("the" and "a"); no gold is not applicable.
    Source: HotpotQA's evaluation script (Yang et al., EMNLP 2018); R-Eval (Tu et al., KDD 2024) scores all its tasks by
    it.
    """
    chinese = is_chinese(sample)
    return best_score(sample, lambda answer, reference: _hotpot_f1(answer, reference, chinese))


def _hotpot_f1(answer: str, reference: str, chinese: bool) -> float:
    one, other = normalize(answer), normalize(reference)
    if not one or (one != other and _LABELS & {one, other}):
        return 0.0
    return f1(answer, reference, chinese)


KILT_ACCURACY = Metric("kilt_accuracy", kilt_accuracy, binary=True)
HOTPOT_F1 = Metric("hotpot_f1", hotpot_f1)
