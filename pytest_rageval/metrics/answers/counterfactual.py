"""Counterfactual robustness: detect, correct or repeat the false claims of passages."""

from __future__ import annotations

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.shared.detection import flags_error, rejects
from pytest_rageval.metrics.shared.matching import contains, meets
from pytest_rageval.metrics.shared.right_answer import is_right
from pytest_rageval.model.case import Case, Gold
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = [
    "ERROR_CORRECTION_RATE",
    "ERROR_DETECTION_RATE",
    "FAKE_ANSWER_RATE",
    "NOTHING_FALSE",
    "error_correction_rate",
    "error_detection_rate",
    "fake_answer_rate",
    "nothing_false",
]


NOTHING_FALSE = Score.not_applicable("no_counterfactual_passage")


def error_detection_rate(sample: Sample) -> Score:
    """Score whether the answer says that the documents have factual errors.

    Formula: 1 if an error marker occurs without a negation (see `detection.flags_error`), else 0. Not applicable if no
    passage is false (`nothing_false`), because there is nothing to detect.
    Range: 0 or 1, higher is better. Empty input: an empty answer scores 0.
    Source: RGB (Chen et al., AAAI 2024), error detection rate (ED), which counts negated markers too.
    """
    if nothing_false(sample.case):
        return NOTHING_FALSE
    return Score(float(flags_error(sample.answer.text, sample.markers)))


def error_correction_rate(sample: Sample) -> Score:
    """Score whether an answer that flags an error also gives the right answer.

    Formula: 1 if the answer contains every gold slot and does not reject, else 0. Only for answers that flag an error;
    not applicable to the others, so the mean is "corrected / detected", and not applicable if no passage is false
    (`nothing_false`).
    Range: 0 or 1, higher is better. Empty input: not applicable for an empty answer (it flags nothing) or no gold.
    Source: RGB (Chen et al., AAAI 2024), error correction rate (CR); its code lets a rejection count as corrected.
    """
    gold, text = sample.case.instance.gold, sample.answer.text
    if nothing_false(sample.case):
        return NOTHING_FALSE
    if not gold:
        return NO_GOLD
    if not flags_error(text, sample.markers):
        return Score.not_applicable("no_error_flagged")
    return Score(float(is_right(sample.case.instance, text) and not rejects(sample.answer, sample.markers)))


def fake_answer_rate(sample: Sample) -> Score:
    """Score whether the answer repeats the false claim of the counterfactual passages.

    Formula: 1 if the answer contains every slot of the fake answer, lacks a gold slot, and flags no error; else 0.
    Not applicable if no passage is false (`nothing_false`), without a fake answer, and if the fake answer implies the
    gold one: every gold slot has a fake slot whose aliases all contain an alias of the gold slot.
    Range: 0 or 1, lower is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: this package, over RGB's counterfactual records (Chen et al., AAAI 2024).
    """
    gold, fake, text = sample.case.instance.gold, sample.case.instance.fake, sample.answer.text
    if nothing_false(sample.case):
        return NOTHING_FALSE
    if not fake:
        return Score.not_applicable("no_fake_answer")
    if not gold:
        return NO_GOLD
    if _implies(fake, gold):
        return Score.not_applicable("fake_contains_gold")
    return Score(float(meets(fake, text) and not meets(gold, text) and not flags_error(text, sample.markers)))


def nothing_false(case: Case) -> bool:
    """Return whether every supplied passage is known to be true: each has a role, and none is counterfactual.

    A passage without a role may be false, and so may a retrieved passage, so such cases are scored. A case with an
    empty list of passages has no false passage.
    """
    return case.supplied is not None and all(p.role not in ("", "counterfactual") for p in case.supplied)


def _implies(fake: Gold, gold: Gold) -> bool:
    """Return whether every text with the fake answer also contains the gold answer."""
    return all(
        any(all(_contains_slot(alias, gold_slot) for alias in fake_slot) for fake_slot in fake) for gold_slot in gold
    )


def _contains_slot(text: str, slot: tuple[str, ...]) -> bool:
    """Return whether ``text`` contains an alias of the slot."""
    return any(contains(text, alias) for alias in slot)


ERROR_DETECTION_RATE = Metric("error_detection_rate", error_detection_rate, binary=True)
ERROR_CORRECTION_RATE = Metric("error_correction_rate", error_correction_rate, binary=True)
FAKE_ANSWER_RATE = Metric("fake_answer_rate", fake_answer_rate, higher_is_better=False, binary=True)
