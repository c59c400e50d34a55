"""Compare our answer metrics with the values of OmniEval's evaluation (with jieba 0.42.1)."""

from __future__ import annotations

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.sample import Sample

NAMES = ("omnieval_em_compat", "omnieval_f1_compat", "rouge_1", "rouge_2", "rouge_l")
METRICS = [Catalog().metrics.get(name) for name in NAMES]


def values(answer: str, *spellings: str) -> list[float | None]:
    sample = Sample(Case("q", Instance("q", "?", (spellings,), language="zh"), None, {}), Answer(answer))
    return [metric.compute(sample).value for metric in METRICS]


@pytest.mark.parametrize(
    ("answer", "gold", "published"),
    [
        ("北京", "北京", (1, 1, 1, 0, 1)),
        ("北京。", "北京", (0, 0.666667, 0.666667, 0, 0.666667)),
        ("2023年净利润为5亿元", "净利润5亿元", (0, 0.64, 0.666667, 0.285714, 0.666667)),
        ("5%", "5 %", (1, 1, 0, 0, 0)),
        ("贷款利率上调", "存款利率下调", (0, 0.75, 0.333333, 0, 0.333333)),
        ("中国人民银行", "中国银行", (0, 0.8, 0, 0, 0)),
        ("ETF", "etf", (1, 1, 0, 0, 0)),
    ],
)
def test_values_equal_the_published_ones(answer: str, gold: str, published: tuple[float, ...]) -> None:
    assert values(answer, gold) == pytest.approx(list(published), abs=1e-6)


def test_exact_match_is_the_mean_over_the_spellings_and_f1_the_best() -> None:
    assert values("北京", "北京", "北京市")[:2] == [0.5, 1.0]
