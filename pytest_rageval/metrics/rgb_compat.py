"""RGB's published score, faults and all, for comparison with published numbers."""

from __future__ import annotations

from pytest_rageval.model.case import Gold
from pytest_rageval.model.facets import matches
from pytest_rageval.model.metric import Metric, Sample
from pytest_rageval.model.outcome import Score

__all__ = ["REJECTED", "RGB_ALL_RATE_COMPAT", "published_hits", "published_labels", "rgb_all_rate_compat"]

REJECTED = (-1,)

_REJECTION = ("信息不足", "insufficient information")


def published_labels(gold: Gold, prediction: str, language: str = "en") -> tuple[int, ...]:
    """Return the labels RGB's evaluation gives a prediction: ``(-1,)`` for a rejection, else those of `published_hits`.

    A rejection substring of either language, in exactly this case, overrides a right answer; for Chinese data all ASCII
    spaces are removed from the prediction first. Source: ``evalue.py`` of RGB, ``predict`` and ``checkanswer``.
    """
    unspaced = prediction.replace(" ", "") if language == "zh" else prediction
    if any(phrase in unspaced for phrase in _REJECTION):
        return REJECTED
    return published_hits(gold, prediction, language)


def published_hits(gold: Gold, text: str, language: str = "en") -> tuple[int, ...]:
    """Return 0 or 1 a slot, as RGB's evaluation finds them in a text.

    A slot is 1 when one of its aliases is a substring after ``str.lower``, without any boundary or normalisation; an
    empty alias always is, a slot without aliases never. For Chinese data all ASCII spaces are removed from the text
    first, but not from the aliases. Source: ``evalue.py`` of RGB, ``checkanswer``.
    """
    lower = (text.replace(" ", "") if language == "zh" else text).lower()
    return tuple(int(any(alias.lower() in lower for alias in slot)) for slot in gold)


def rgb_all_rate_compat(sample: Sample) -> Score:
    """Score an answer as RGB's published ``all_rate`` counts it.

    Formula: 1 when `published_labels` has a 1 and no 0 or, at noise rate 1, is a rejection; else 0. The markers are the
    published ones, whatever the session's are, and ``answer.abstained`` is not looked at.
    Range: 0 or 1, higher is better. Empty input: no gold gives no labels, which score 0; an empty answer scores 0.
    Source: ``all_rate`` in ``evalue.py`` of RGB (Chen et al., AAAI 2024).
    """
    instance = sample.case.instance
    labels = published_labels(instance.gold, sample.answer.text, instance.language)
    correct = 0 not in labels and 1 in labels
    rejected = labels == REJECTED and matches(sample.case.facets, {"noise_rate": "1"})
    return Score(float(correct or rejected))


RGB_ALL_RATE_COMPAT = Metric("rgb_all_rate_compat", rgb_all_rate_compat, binary=True)
