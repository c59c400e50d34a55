"""Compare our ROUGE with rouge-chinese's, over jieba's tokens: real news and difficult texts."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterable
from itertools import islice, pairwise
from pathlib import Path

import pytest

from pytest_rageval.metrics.answers.rouge import ROUGE_1, ROUGE_2, ROUGE_L
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.words import tokens

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # jieba's warnings about escapes in its patterns and about pkg_resources
    jieba = pytest.importorskip("jieba", reason="jieba, on whose tokens the values rest, is not installed")
    rouge_chinese = pytest.importorskip("rouge_chinese")

MIXED = "中国人民银行北京上海的了一二三ab CD12.%-_+#&。，！？…“”‘’\n\r\t \u3000x9é?......"
LATIN = "ab c? .!\n\t x......”"

Triple = tuple[float, float, float]


@pytest.fixture(autouse=True)
def quiet() -> None:
    jieba.setLogLevel(40)


def published(answer: str, reference: str, language: str = "en") -> Triple:
    if language == "zh" or has_chinese(answer) or has_chinese(reference):
        answer, reference = (" ".join(jieba.cut(text)) for text in (answer, reference))
    try:
        scores = rouge_chinese.Rouge().get_scores(answer, reference)[0]
    except ValueError:  # one of them is empty, which is 0 here
        return 0.0, 0.0, 0.0
    return scores["rouge-1"]["f"], scores["rouge-2"]["f"], scores["rouge-l"]["f"]


def ours(answer: str, reference: str, language: str = "en") -> Triple:
    instance = Instance("q", "?", ((reference,),), language=language)
    sample = Sample(Case("q", instance, None, {}), Answer(answer))
    one, two, longest = (metric.compute(sample).value for metric in (ROUGE_1, ROUGE_2, ROUGE_L))
    assert one is not None
    assert two is not None
    assert longest is not None
    return one, two, longest


def differing(pairs: Iterable[tuple[str, str]], language: str = "en") -> list[tuple[str, str]]:
    return [
        (answer, reference)
        for answer, reference in pairs
        if any(
            abs(a - b) > 1e-9
            for a, b in zip(ours(answer, reference, language), published(answer, reference, language), strict=True)
        )
    ]


def random_texts(characters: str, n: int, seed: int) -> list[str]:
    random_ = random.Random(seed)
    return ["".join(random_.choices(characters, k=random_.randint(0, 30))) for _ in range(n)]


@pytest.mark.parametrize("characters", [MIXED, LATIN], ids=["mixed", "latin"])
def test_values_equal_rouge_chinese_on_difficult_texts(characters: str) -> None:
    assert differing(zip(random_texts(characters, 1500, 1), random_texts(characters, 1500, 2), strict=True)) == []


def test_a_chinese_record_without_a_han_character_is_tokenized_by_jieba() -> None:
    assert ours("59。", "59", "zh") == pytest.approx((2 / 3, 0.0, 2 / 3), abs=1e-6)
    latin = [text for text in random_texts(LATIN + "59。，%", 1500, 4) if not has_chinese(text)]
    assert differing(zip(latin, reversed(latin), strict=True), "zh") == []


def test_values_equal_rouge_chinese_on_news(rageval_data: Path) -> None:
    with (rageval_data / "crud" / "documents_part_1_1.txt").open(encoding="utf-8") as lines:
        texts = list(islice((line.strip() for line in lines if has_chinese(line)), 400))
    pairs = [(one[:length], other[:length]) for length in (40, 120) for one, other in pairwise(texts)]
    assert len(pairs) > 700
    assert differing(pairs) == []


def test_tokens_equal_jiebas_including_separators(rageval_data: Path) -> None:
    with (rageval_data / "crud" / "documents_part_1_1.txt").open(encoding="utf-8") as lines:
        texts = list(islice((line.rstrip("\n") for line in lines), 300))
    assert [text for text in texts if tokens(text) != jieba.lcut(text)] == []
    assert all("".join(tokens(text)) == text for text in [*texts, *random_texts(MIXED, 500, 3)])
