"""Scores with the values of RGB's published code, including its faults."""

from __future__ import annotations

from pytest_rageval.model.case import Gold
from pytest_rageval.model.facets import matches
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = [
    "CORRECT_RATE_COMPAT",
    "FACT_CHECK_RATE_COMPAT",
    "REJECTED",
    "REJECTION_RATE_RGB_COMPAT",
    "RGB_ALL_RATE_COMPAT",
    "correct_rate_compat",
    "fact_check_rate_compat",
    "published_flag",
    "published_hits",
    "published_labels",
    "rejection_rate_rgb_compat",
    "rgb_all_rate_compat",
]

REJECTED = (-1,)
"""The label of a rejection."""

_REJECTION = ("信息不足", "insufficient information")
_ERROR = ("事实性错误", "factual errors")


def published_labels(gold: Gold, prediction: str, language: str = "en") -> tuple[int, ...]:
    """Return RGB's labels of a prediction: ``(-1,)`` for a rejection, else those of `published_hits`.

    A rejection substring of either language (case-sensitive) overrides a right answer. For Chinese data, all ASCII
    spaces are removed from the prediction first. Source: ``evalue.py`` of RGB, ``predict`` and ``checkanswer``.
    """
    if _contains_phrase(prediction, _REJECTION, language):
        return REJECTED
    return published_hits(gold, prediction, language)


def published_flag(prediction: str, language: str = "en") -> bool:
    """Return whether a prediction reports a factual error, by RGB's evaluation.

    It does if it contains an error substring of either language (case-sensitive), negated or not. For Chinese data, all
    ASCII spaces are removed from the prediction first. Source: ``evalue.py`` of RGB, ``predict``.
    """
    return _contains_phrase(prediction, _ERROR, language)


def published_hits(gold: Gold, text: str, language: str = "en") -> tuple[int, ...]:
    """Return 0 or 1 for each slot of a text, by RGB's evaluation.

    A slot is 1 if one of its aliases is a substring after ``str.lower``, without any boundary or normalisation. An
    empty alias always matches; a slot without aliases is 0. For Chinese data all ASCII spaces are removed from the text
    first, but not from the aliases. Source: ``evalue.py`` of RGB, ``checkanswer``.
    """
    lower = _unspaced(text, language).lower()
    return tuple(int(any(alias.lower() in lower for alias in slot)) for slot in gold)


def rgb_all_rate_compat(sample: Sample) -> Score:
    """Score an answer by RGB's published ``all_rate``.

    Formula: 1 if `published_labels` has a 1 and no 0 or, at noise rate 1, is a rejection; else 0. The markers are the
    published ones; the session's markers and ``answer.abstained`` are ignored.
    Range: 0 or 1, higher is better. Empty input: no gold gives no labels, which score 0; an empty answer scores 0.
    Source: ``all_rate`` in ``evalue.py`` of RGB (Chen et al., AAAI 2024).
    """
    labels = _labels(sample)
    correct = 0 not in labels and 1 in labels
    rejected = labels == REJECTED and matches(sample.case.facets, {"noise_rate": "1"})
    return Score(float(correct or rejected))


def rejection_rate_rgb_compat(sample: Sample) -> Score:
    """Score whether the answer contains RGB's published rejection sentence.

    Formula: 1 if `published_labels` is a rejection (one of RGB's two substrings occurs, with any other text), else 0.
    The session's markers and ``answer.abstained`` are ignored.
    Range: 0 or 1, higher is better (on cases without evidence). Empty input: an empty answer scores 0.
    Source: the rejection rate "Rej" of RGB (Chen et al., AAAI 2024), and the label -1 of its ``evalue.py``.
    """
    return Score(float(_labels(sample) == REJECTED))


def fact_check_rate_compat(sample: Sample) -> Score:
    """Score an answer by RGB's published ``fact_check_rate``.

    Formula: 1 if `published_flag` finds an error substring, else 0. It applies to every case, with any passages. The
    session's markers are ignored.
    Range: 0 or 1, higher is better (on cases with false passages). Empty input: an empty answer scores 0.
    Source: ``fact_check_rate`` in ``evalue.py`` of RGB (Chen et al., AAAI 2024), its error detection rate.
    """
    return Score(float(published_flag(sample.answer.text, sample.case.instance.language)))


def correct_rate_compat(sample: Sample) -> Score:
    """Score an answer by RGB's published ``correct_rate``.

    Formula: for answers that `fact_check_rate_compat` scores 1: 1 if `published_labels` has no 0, else 0. A rejection,
    whose only label is -1, therefore counts as corrected. Not applicable to the other answers, so the mean is
    ``correct_tt / fact_tt``. Without flagged answers there is no mean; RGB's code writes 0.
    Range: 0 or 1, higher is better. Empty input: an empty answer flags nothing; no gold gives no labels, which score 1.
    Source: ``correct_rate`` in ``evalue.py`` of RGB (Chen et al., AAAI 2024), its error correction rate.
    """
    if not published_flag(sample.answer.text, sample.case.instance.language):
        return Score.not_applicable("no_error_flagged")
    return Score(float(0 not in _labels(sample)))


def _labels(sample: Sample) -> tuple[int, ...]:
    instance = sample.case.instance
    return published_labels(instance.gold, sample.answer.text, instance.language)


def _contains_phrase(text: str, phrases: tuple[str, ...], language: str) -> bool:
    unspaced = _unspaced(text, language)
    return any(phrase in unspaced for phrase in phrases)


def _unspaced(text: str, language: str) -> str:
    return text.replace(" ", "") if language == "zh" else text


RGB_ALL_RATE_COMPAT = Metric("rgb_all_rate_compat", rgb_all_rate_compat, binary=True)
REJECTION_RATE_RGB_COMPAT = Metric("rejection_rate_rgb_compat", rejection_rate_rgb_compat, binary=True)
FACT_CHECK_RATE_COMPAT = Metric("fact_check_rate_compat", fact_check_rate_compat, binary=True)
CORRECT_RATE_COMPAT = Metric("correct_rate_compat", correct_rate_compat, binary=True)
