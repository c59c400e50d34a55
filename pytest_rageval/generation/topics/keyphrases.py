"""Keyphrases of documents by TF-IDF, and their clusters by cosine."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.stems import STOP_WORDS
from pytest_rageval.text.words import words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Weights", "clusters", "top_terms", "weights_of"]

MOST_PHRASES = 400
"""How many phrases are clustered."""

OF_DOCUMENT = 12
"""How many phrases of a document count."""

_MORE_STOPS = frozenset(
    re.findall(
        r"\S+",
        "after all any because before being between both but can could during each every he her here him his however if"
        " into may more most must not off one only other our out over own refer refers same she should since some still"
        " such their them then two until up us very we what why without your yours"
        " 一个 一些 这个 这些 那个 我们 你们 他们 她们 它们 自己 没有 可以 进行 表示 以及 因为 所以 如果 通过 对于 关于"
        " 其中 目前 已经 同时 此外 记者 今年 去年 据悉 当日 正文",
    )
)


@dataclass(frozen=True)
class Weights:
    """The TF-IDF weights of the terms of documents.

    Attributes:
        documents: for each document its terms with their weights; the vector has length 1.
    """

    documents: tuple[Mapping[str, float], ...]


def weights_of(texts: Sequence[str]) -> Weights:
    """Return the TF-IDF weights of each text's words; words without a topic (stop words, numbers) have none."""
    counts = [Counter(_terms(text)) for text in texts]
    frequency: Counter[str] = Counter()
    for each in counts:
        frequency.update(each.keys())
    return Weights(tuple(_weighted(each, frequency, len(texts)) for each in counts))


def top_terms(weights: Weights, members: Sequence[int], count: int) -> tuple[str, ...]:
    """Return the terms with the largest weight in some documents, by their places."""
    total: Counter[str] = Counter()
    for at in members:
        total.update(weights.documents[at])
    return tuple(term for term, _ in sorted(total.items(), key=lambda each: (-each[1], each[0]))[:count])


def clusters(weights: Weights, leaves: int, parents: int) -> list[list[list[str]]]:
    """Return clusters of clusters of phrases, each cluster with its heaviest phrase first.

    The heaviest phrases of all documents are agglomerated by the average cosine of the documents that hold them, until
    ``leaves`` are left; these go on until ``parents`` are left.
    """
    phrases = _phrases(weights)
    if not phrases:
        return []
    leaf_groups = _agglomerated(_cosines(weights, phrases), [[at] for at in range(len(phrases))], leaves)
    outer = _agglomerated(_cosines(weights, phrases), leaf_groups, parents)
    inner = [[group for group in leaf_groups if set(group) <= set(members)] for members in outer]
    return [[[phrases[at] for at in sorted(group)] for group in sorted(groups)] for groups in inner]


def _terms(text: str) -> list[str]:
    return [term for word in words(text) if _is_topical(term := word.casefold())]


def _is_topical(term: str) -> bool:
    if any(character.isdigit() for character in term) or term in STOP_WORDS or term in _MORE_STOPS:
        return False
    return len(term) >= (2 if has_chinese(term) else 3)


def _weighted(counts: Mapping[str, int], frequency: Mapping[str, int], total: int) -> Mapping[str, float]:
    raw = {
        term: (1 + math.log(count)) * math.log((1 + total) / frequency[term])
        for term, count in counts.items()
        if frequency[term] <= max(1, total // 2) or total < 8
    }
    length = math.sqrt(math.fsum(weight * weight for weight in raw.values())) or 1.0
    return {term: weight / length for term, weight in raw.items()}


def _phrases(weights: Weights) -> list[str]:
    """Return the heaviest phrases of all documents, the heaviest first."""
    total: Counter[str] = Counter()
    for document in weights.documents:
        best = sorted(document.items(), key=lambda each: (-each[1], each[0]))[:OF_DOCUMENT]
        total.update(dict(best))
    ranked = sorted(total.items(), key=lambda each: (-each[1], each[0]))
    return [term for term, _ in ranked[:MOST_PHRASES]]


def _cosines(weights: Weights, phrases: Sequence[str]) -> npt.NDArray[np.float64]:
    import numpy as np

    place = {phrase: at for at, phrase in enumerate(phrases)}
    matrix = np.zeros((len(phrases), len(weights.documents)))
    for column, document in enumerate(weights.documents):
        for term, weight in document.items():
            if term in place:
                matrix[place[term], column] = weight
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    result: npt.NDArray[np.float64] = np.round(matrix @ matrix.T, 9)
    return result


def _agglomerated(cosines: npt.NDArray[Any], groups: Sequence[Sequence[int]], wanted: int) -> list[list[int]]:
    """Merge the two most similar groups, by the average cosine of their members, until ``wanted`` are left."""
    import numpy as np

    members = [list(group) for group in groups]
    indicator = np.zeros((len(members), len(cosines)))
    for row, group in enumerate(members):
        indicator[row, group] = 1.0
    sums, sizes = indicator @ cosines @ indicator.T, indicator.sum(axis=1)
    alive = np.ones(len(members), dtype=bool)
    while alive.sum() > max(wanted, 1):
        means = np.round(sums / np.outer(sizes, sizes), 9)
        means[~alive, :] = means[:, ~alive] = -1.0
        np.fill_diagonal(means, -1.0)
        one, other = divmod(int(means.argmax()), len(members))
        sums[one, :] += sums[other, :]
        sums[:, one] += sums[:, other]
        sizes[one] += sizes[other]
        members[one] += members[other]
        alive[other] = False
    return [sorted(group) for group, is_alive in zip(members, alive, strict=True) if is_alive]
