from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.rouge import ROUGE_1
from pytest_rageval.metrics.answers.squad import TOKEN_F1
from pytest_rageval.metrics.published.omnieval_compat import OMNIEVAL_F1_COMPAT
from pytest_rageval.model.metric import Metric
from pytest_rageval.text.dictionary import use_dictionaries


@pytest.fixture(autouse=True)
def jieba_without_dictionaries() -> Iterator[None]:
    pytest.importorskip("jieba", reason="the extra chinese is not installed")
    yield
    use_dictionaries(())


@pytest.mark.parametrize("metric", [TOKEN_F1, ROUGE_1, OMNIEVAL_F1_COMPAT], ids=lambda metric: metric.name)
def test_metrics_split_words_again_after_a_change_of_the_dictionary(metric: Metric, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("韩玉赏鉴基金\n", encoding="utf-8")
    answer_sample = sample("韩玉赏鉴基金", slots("赏鉴基金"), language="zh")
    before = value(metric, answer_sample)
    use_dictionaries([tmp_path / "words.txt"])
    assert value(metric, answer_sample) != before
