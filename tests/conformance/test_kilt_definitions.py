"""Compare KILT's answer metrics and ``answer_in_context`` with second implementations, on random texts."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Gold, Instance
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

CASES = 2000
WORDS = ["the", "The", "a", "an", "cat", "Cat.", "sat", "12.5", "...", "an-d", "on", ".", "mat,", "é", "“on”", "", " "]
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def tokens(text: str) -> list[str]:
    """Lower case; ASCII punctuation removed; the words a, an and the removed; cut at white space."""
    bare = "".join(character for character in text.lower() if character not in PUNCTUATION)
    return [word for word in bare.split() if word not in ("a", "an", "the")]


def em(answer: str, gold: str) -> float:
    return float(tokens(answer) == tokens(gold))


def f1(answer: str, gold: str) -> float:
    ours, theirs = tokens(answer), tokens(gold)
    rest = list(theirs)
    for word in ours:
        if word in rest:
            rest.remove(word)
    both = len(theirs) - len(rest)
    return 2 * both / (len(ours) + len(theirs)) if both else 0.0


def sentences(text: str) -> list[list[str]]:
    return [part.split() or [""] for part in text.split(".") if part]


def in_order(expected: list[str], reply: list[str]) -> set[str]:
    """Return the words of the longest common subsequence; prefer the one that ends first in the reply."""
    lengths = [[0] * (len(reply) + 1) for _ in range(len(expected) + 1)]
    for i, one in enumerate(expected, 1):
        for j, other in enumerate(reply, 1):
            lengths[i][j] = lengths[i - 1][j - 1] + 1 if one == other else max(lengths[i - 1][j], lengths[i][j - 1])
    result, i, j = set(), len(expected), len(reply)
    while i and j:
        if expected[i - 1] == reply[j - 1]:
            result.add(expected[i - 1])
            i, j = i - 1, j - 1
        elif lengths[i - 1][j] > lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return result


def rouge_l(answer: str, gold: str) -> float:
    ours, theirs = sentences(answer), sentences(gold)
    if not ours or not theirs:
        return 0.0
    both = set().union(*(in_order(expected, reply) for expected in theirs for reply in ours))
    precision, recall = len(both) / len(set().union(*ours)), len(both) / len(set().union(*theirs))
    return 2 * precision * recall / (precision + recall + 1e-8)


def accuracy(answer: str, gold: str) -> float:
    return float(answer == gold)


def cases(words: list[str], longest: int) -> Iterator[tuple[str, list[str]]]:
    """Yield random answers with one to three references, at least one of them not empty."""
    draw = random.Random(longest)

    def text() -> str:
        return " ".join(draw.choices(words, k=draw.randint(0, longest)))

    count = 0
    while count < CASES:
        answer, golds = text(), [text() for _ in range(draw.randint(1, 3))]
        if any(gold.strip() for gold in golds):
            count += 1
            yield answer, golds


@pytest.mark.parametrize(
    ("name", "definition"),
    [
        ("kilt_em_compat", em),
        ("kilt_f1_compat", f1),
        ("kilt_rouge_l_compat", rouge_l),
        ("kilt_accuracy", accuracy),
    ],
)
@pytest.mark.parametrize(("words", "longest"), [(WORDS, 5), (["a", "b", "c", "d", "."], 14)], ids=["odd", "long"])
def test_values_equal_the_definition(
    name: str, definition: Callable[[str, str], float], words: list[str], longest: int
) -> None:
    metric = Catalog().metrics.get(name)
    differing = []
    for answer, golds in cases(words, longest):
        reply = answer.strip()
        best = max(definition(reply, gold.strip()) for gold in golds if gold.strip()) if reply else 0.0
        instance = Instance("q", "?", (tuple(golds),))
        value = metric.compute(Sample(Case("q", instance, None, {}), Answer(answer))).value
        assert value is not None
        if not math.isclose(value, best, rel_tol=0, abs_tol=1e-12):
            differing.append((answer, golds, value, best))
    assert differing == []


@pytest.mark.parametrize(
    "pieces",
    [["New ", "York ", "the ", "70 ", "5 ", "cat ", ". ", " "], ["北", "京", "70", "5", ",", "年", "-"]],
    ids=["en", "zh"],
)
def test_answer_in_context_is_in_a_title_or_in_a_text(pieces: list[str]) -> None:
    """Title and text are searched separately: joined, 8 of 400 cases would match an alias across both."""
    metric = Catalog().metrics.get("answer_in_context")
    draw = random.Random(7)

    def text(longest: int) -> str:
        return "".join(draw.choices(pieces, k=draw.randint(0, longest)))

    differing = result = 0
    for _ in range(CASES):
        gold: Gold = tuple((text(2),) * draw.randint(1, 2) for _ in range(draw.randint(1, 2)))
        passages = [(text(2), text(4) or "x") for _ in range(draw.randint(0, 3))]
        items = tuple(ScoredPassage(f"d{at}", text=reply, title=title) for at, (title, reply) in enumerate(passages))
        sample = Sample(Case("q", Instance("q", "?", gold), None, {}), Answer("x", Ranking(items)))
        expected = any(
            contains(part, alias) for passage in passages for part in passage for slot in gold for alias in slot
        )
        result += expected
        differing += metric.compute(sample).value != float(expected)
    assert differing == 0
    assert result > CASES // 20
