from __future__ import annotations

import pytest
from support.samples.metric_samples import sample, slots, value
from support.samples.ranking_samples import ranking, retrieved

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError
from pytest_rageval.metrics.answers.kilt import HOTPOT_F1, KILT_ACCURACY
from pytest_rageval.metrics.published.kilt_compat import KILT_HAS_ANSWER_COMPAT
from pytest_rageval.model.case import Gold
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.verdict import Verdict

HIT, HALF, MISS = ranking("a", "b"), ranking("a", "c"), ranking("c")
EVIDENCE = [["a", "b"]]


def catalog_with(metric: Metric) -> Catalog:
    catalog = Catalog()
    catalog.metrics.register(metric.name, metric)
    return catalog


@pytest.mark.parametrize(
    ("text", "gold", "accuracy", "f1", "has_answer"),
    [
        ("SUPPORTS", slots("SUPPORTS"), 1.0, 1.0, 1.0),
        (" SUPPORTS\n", slots("SUPPORTS "), 1.0, 1.0, 1.0),
        ("Supports", slots("SUPPORTS"), 0.0, 1.0, 1.0),
        ("Rome, Italy", slots(["Rome", "Roma"]), 0.0, 2 / 3, 1.0),
        ("yes", slots("no"), 0.0, 0.0, 0.0),
        ("yes it is", slots("yes"), 0.0, 0.0, 1.0),
        ("Yes.", slots("yes"), 0.0, 1.0, 1.0),
        ("no one", slots(["yes", "no one knows"]), 0.0, 0.8, 0.0),
        ("I know", slots("no"), 0.0, 0.0, 1.0),
        ("Lima", slots("The"), 0.0, 0.0, 1.0),
        ("", slots("Rome"), 0.0, 0.0, "not_applicable: empty_answer"),
        ("Rome", (), *["not_applicable: no_gold"] * 3),
    ],
)
def test_kilt_and_hotpotqa_scores_equal_those_computed_by_hand(
    text: str, gold: Gold, accuracy: float | str, f1: float | str, has_answer: float | str
) -> None:
    answer_sample = sample(text, gold)
    assert value(KILT_ACCURACY, answer_sample) == accuracy
    assert value(HOTPOT_F1, answer_sample) == (f1 if isinstance(f1, str) else pytest.approx(f1))
    assert value(KILT_HAS_ANSWER_COMPAT, answer_sample) == has_answer


@pytest.mark.parametrize(("result", "expected"), [(HIT, 1.0), (HALF, 0.0), (MISS, 0.0), (ranking(), 0.0), (None, 0.0)])
def test_an_answer_scores_only_if_its_evidence_was_retrieved(result: object, expected: float) -> None:
    gated = Catalog().metrics.get("kilt:token_f1")
    assert value(gated, retrieved(result, provenance=EVIDENCE)) == expected  # type: ignore[arg-type]


def test_a_gated_metric_scores_the_same_cases_as_the_metric() -> None:
    gated = Catalog().metrics.get("kilt:token_f1")
    assert value(gated, retrieved(HIT)) == 0.0, "without evidence the case still counts in the mean, as in token_f1"
    assert value(gated, retrieved(HIT, provenance=EVIDENCE, gold=())) == "not_applicable: no_gold"
    assert value(gated, retrieved(MISS, provenance=EVIDENCE, gold=())) == "not_applicable: no_gold"


def test_a_gated_metric_has_the_properties_of_the_metric() -> None:
    verdict = Verdict("polite", "", (), None)
    catalog = catalog_with(Metric("mine", lambda sample: Score(1.0, None, verdict), binary=True, closed_book=True))
    gated = catalog.metrics.get("kilt:mine")
    assert (gated.name, gated.binary, gated.closed_book, gated.higher_is_better) == ("kilt:mine", True, True, True)
    assert gated.compute(retrieved(MISS, provenance=EVIDENCE)) == Score(0.0, None, verdict)
    assert value(catalog.metrics.get("kilt:nDCG@10"), retrieved(HIT, {"a": 1, "b": 0})) == 1.0
    assert value(catalog.metrics.get("kilt:nDCG@10"), retrieved(MISS, {"a": 1})) == 0.0


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("kilt", "metric 'kilt' gates no metric; write kilt:METRIC, as in kilt:token_f1"),
        ("kilt:", "metric 'kilt:' gates no metric; write kilt:METRIC, as in kilt:token_f1"),
        ("kilt@5", "metric 'kilt@5' gates no metric; write kilt:METRIC, as in kilt:token_f1"),
        ("kilt:token_f2", "unknown metric 'token_f2'; did you mean 'token_f1'?"),
        ("kilt:P@0", "metric 'P@0' has no valid cutoff; write P@K with a whole number K from 1 to 1000000, as in P@10"),
        (
            "kilt:fake_answer_rate",
            "metric 'kilt:fake_answer_rate' would reward missing evidence, "
            "because 0 is the best fake_answer_rate; remove it",
        ),
    ],
)
def test_a_metric_that_cannot_be_gated_gives_one_sentence(name: str, problem: str) -> None:
    with pytest.raises(SettingError) as caught:
        Catalog().metrics.get(name, "here")
    assert str(caught.value) == f"here: {problem}"


def test_chinese_answers_with_numbers_match_as_in_exact_match_and_token_f1() -> None:
    several = sample("1.5% 2%", slots(["15%", "1.5%"], "2%"), language="zh")
    assert (value(KILT_ACCURACY, several), value(HOTPOT_F1, several)) == (1.0, 1.0)
    assert value(HOTPOT_F1, sample("1.5%", slots("15%"), language="zh")) == 0.0
