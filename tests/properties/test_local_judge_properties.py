"""Laws of local judges: finite features in their ranges, and decisions that depend on one answer alone."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from support.samples.local_judges import made_judge

from pytest_rageval.local_judges.features import RULES, JudgeInput
from pytest_rageval.local_judges.head import class_shares
from pytest_rageval.local_judges.local_judge import LocalJudge

WORDS = (
    "yes",
    "No",
    "9",
    "euros",
    "19.5%",
    "the documents do not say",
    "5亿元",
    "不是",
    "。",
    ".",
    "\n",
    "Paris",
    "-",
    "",
)
UNBOUNDED = ("refusals", "length", "gold_length")

texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
golds = st.lists(st.lists(texts, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple)
judge_inputs = st.builds(JudgeInput, texts, golds, texts, st.just("en"))


@given(judge_inputs)
def test_features_are_finite_and_in_their_ranges(one: JudgeInput) -> None:
    for name, feature in RULES.items():
        value = feature.compute(one)
        assert math.isfinite(value)
        assert value >= 0
        assert name in UNBOUNDED or value <= 1
    assert RULES["refusals"].compute(one) <= 5
    assert sum(RULES[name].compute(one) for name in ("number_right", "number_wrong", "number_none")) == 1


@given(st.lists(judge_inputs, min_size=1, max_size=5))
def test_the_order_of_a_batch_changes_no_decision(batch: list[JudgeInput]) -> None:
    judge = LocalJudge(made_judge(), "d", None, None)
    alone = [judge.judge_batch([each])[0] for each in batch]
    assert judge.judge_batch(batch) == alone
    assert judge.judge_batch(batch[::-1]) == alone[::-1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4).map(lambda each: sorted(each, reverse=True)))
def test_the_shares_of_classes_are_a_distribution(above: list[float]) -> None:
    shares = class_shares(above)
    assert min(shares) >= 0
    assert math.isclose(sum(shares), 1)
