from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.rouge import ROUGE_1, ROUGE_2, ROUGE_L
from pytest_rageval.model.metric import Metric

NEAR_1 = pytest.approx(0.999999995, abs=1e-12)
TEXT = st.one_of(st.text(max_size=30), st.text("中国人民银行北京的。！？ ab12%\n…”", max_size=30))


def test_values_equal_those_computed_by_hand() -> None:
    # the answer has 6 tokens (5 distinct), the reference has 5
    words = sample("the cat sat on the mat", slots("the cat on a mat"))
    assert value(ROUGE_1, words) == pytest.approx(2 * (4 / 5 * 4 / 5) / (4 / 5 + 4 / 5 + 1e-8))  # the cat on mat
    assert value(ROUGE_2, words) == pytest.approx(2 * (1 / 5 * 1 / 4) / (1 / 5 + 1 / 4 + 1e-8))  # the cat
    assert value(ROUGE_L, words) == pytest.approx(2 * (4 / 6 * 4 / 5) / (4 / 6 + 4 / 5 + 1e-8))  # the cat on mat


# the values that OmniEval's script prints for these answers
@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("北京", "北京", (NEAR_1, 0.0, NEAR_1)),
        ("北京。", "北京", (2 / 3, 0.0, 2 / 3)),
        ("2023年净利润为5亿元", "净利润5亿元", (2 / 3, 0.285714, 2 / 3)),
        ("5%", "5 %", (0.0, 0.0, 0.0)),
        ("贷款利率上调", "存款利率下调", (1 / 3, 0.0, 1 / 3)),
        ("中国人民银行", "中国银行", (0.0, 0.0, 0.0)),
        ("ETF", "etf", (0.0, 0.0, 0.0)),
    ],
)
def test_values_equal_the_published_ones(answer: str, gold: str, expected: tuple[float, float, float]) -> None:
    words = sample(answer, slots(gold))
    for metric, score in zip((ROUGE_1, ROUGE_2, ROUGE_L), expected, strict=True):
        assert value(metric, words) == pytest.approx(score, abs=1e-6), metric.name


def test_the_language_of_the_record_decides_whether_jieba_splits_words() -> None:
    for metric in (ROUGE_1, ROUGE_L):
        assert value(metric, sample("59。", slots("59"), language="zh")) == pytest.approx(2 / 3, abs=1e-6)
        assert value(metric, sample("59。", slots("59"))) == 0


@pytest.mark.parametrize("metric", [ROUGE_1, ROUGE_2, ROUGE_L])
class TestEach:
    def test_the_best_reference_counts(self, metric: Metric) -> None:
        assert value(metric, sample("one two", slots(["three four", "one two"]))) == NEAR_1

    @pytest.mark.parametrize("answer", ["", " \n"])
    def test_an_empty_answer_scores_0(self, metric: Metric, answer: str) -> None:
        assert value(metric, sample(answer, slots("北京"))) == 0
        assert value(metric, sample("北京 是", slots(""))) == 0

    def test_a_case_without_gold_is_not_applicable(self, metric: Metric) -> None:
        assert value(metric, sample("text")) == "not_applicable: no_gold"

    def test_an_answer_with_a_lone_surrogate_is_scored(self, metric: Metric) -> None:
        assert isinstance(value(metric, sample("北京\ud800的 天", slots("北京的天"))), float)


def test_the_references_for_several_slots_equal_those_of_exact_match() -> None:
    words = sample("1.5% 2%", slots(["15%", "1.5%"], "2%"), language="zh")  # has no Han character
    assert value(ROUGE_1, words) == NEAR_1


@settings(deadline=None)
@given(TEXT, TEXT)
def test_values_are_between_0_and_1_and_symmetric(one: str, other: str) -> None:
    for metric in (ROUGE_1, ROUGE_2, ROUGE_L):
        score = value(metric, sample(one, slots(other)))
        assert isinstance(score, float)
        assert 0 <= score < 1
        assert score == pytest.approx(value(metric, sample(other, slots(one))))


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), st.integers(0, 8))
def test_a_part_in_order_is_a_common_subsequence(words: list[str], length: int) -> None:
    part = words[:length] or words
    recall, precision = len(part) / len(words), 1.0
    expected = 2 * recall * precision / (recall + precision + 1e-8)
    assert value(ROUGE_L, sample(" ".join(part), slots(" ".join(words)))) == pytest.approx(expected)
