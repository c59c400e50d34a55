"""What ROUGE-L costs on Chinese texts of about 300 tokens: ours against jieba with rouge-chinese.

    python tests/benchmarks/rouge.py [--pairs N] [--rounds N]

Target, from text to score: at least 100 times as fast, the largest difference below 1e-9; jieba's tokens at 15 times
its speed. The texts are made of the words of a few invented sentences, shuffled. Both sides run in this process;
medians of the rounds.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections.abc import Callable, Sequence
from statistics import median
from typing import TypeVar

from measuring import table

from pytest_rageval.metrics.answers import rouge
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.words import tokens

warnings.simplefilter("ignore")  # jieba's warnings
import jieba  # noqa: E402
from rouge_chinese import Rouge  # noqa: E402

SENTENCES = (
    "苍鹭线的末班船晚上十一点一刻从盐码头开出，周日也不例外。",
    "海港卡的押金是五克朗，退卡的时候全额退还给持卡人。",
    "城堡线电车工作日每九分钟一班，周末每十八分钟一班。",
    "码头办事处把捡到的雨伞保管四十五天，过期就送给港口剧院。",
    "市议会去年讨论过要不要提高单程票的价格，最后没有通过。",
)
LENGTH = 300

T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100, help="more than 64, or texts that were cut are remembered")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    jieba.setLogLevel(40)
    list(jieba.cut("预热"))
    tokens("预热")
    texts = [_text(seed) for seed in range(2 * arguments.pairs)]
    pairs = list(zip(texts[::2], texts[1::2], strict=True))
    theirs, published = _timed(lambda: [_published(*pair) for pair in pairs], arguments.rounds)
    ours, our_scores = _timed(lambda: [_ours(*pair) for pair in pairs], arguments.rounds)
    cutting, by_jieba = _timed(lambda: [jieba.lcut(text) for text in texts], arguments.rounds)
    ours_cutting, by_us = _timed(lambda: [tokens(text) for text in texts], arguments.rounds)
    same = sum(one == other for one, other in zip(by_jieba, by_us, strict=True))
    difference = max(abs(a - b) for a, b in zip(published, our_scores, strict=True))
    rows = [
        ["", "jieba and rouge-chinese", "ours", "ratio"],
        ["ROUGE-L, ms a pair", *_row(theirs / len(pairs), ours / len(pairs))],
        ["tokens, ms a text", *_row(cutting / len(texts), ours_cutting / len(texts))],
    ]
    print(table(rows))
    print(f"largest difference {difference:.1e}; the same tokens in {same} of {len(texts)} texts")


def _text(seed: int) -> str:
    """Return a text of about ``LENGTH`` tokens."""
    random_ = random.Random(seed)
    sentences = list(SENTENCES)
    text = ""
    while len(jieba.lcut(text)) < LENGTH:
        random_.shuffle(sentences)
        text += "".join(sentences[: random_.randint(1, len(sentences))])
    return text


def _published(answer: str, reference: str) -> float:
    cut = [" ".join(jieba.cut(text)) for text in (answer, reference)]
    score: float = Rouge(metrics=["rouge-l"]).get_scores(*cut)[0]["rouge-l"]["f"]
    return score


def _ours(answer: str, reference: str) -> float:
    score = rouge.rouge_l(Sample(Case("q", Instance("q", "?", ((reference,),)), None, {}), Answer(answer)))
    assert score.value is not None
    return score.value


def _timed(work: Callable[[], list[T]], rounds: int) -> tuple[float, list[T]]:
    """Return the median of the seconds that ``work`` takes, and its result."""
    times: list[float] = []
    result: list[T] = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return median(times), result


def _row(theirs: float, ours: float) -> Sequence[str]:
    return f"{theirs * 1e3:.3f}", f"{ours * 1e3:.3f}", f"{theirs / ours:.0f} x"


if __name__ == "__main__":
    main()
