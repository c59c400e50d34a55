"""Extract keyphrases from documents by TF-IDF, and cluster them by cosine."""

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

MAX_PHRASES = 400
"""Largest number of phrases that are clustered."""

PHRASES_PER_DOCUMENT = 12
"""How many of its heaviest phrases a document contributes."""

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
        documents: for each document, term -> weight; the weights form a vector of length 1.
    """

    documents: tuple[Mapping[str, float], ...]


def weights_of(texts: Sequence[str]) -> Weights:
    """Return the TF-IDF weights of each text's words, without stop words and words that contain digits."""
    counts = [Counter(_terms(text)) for text in texts]
    frequency: Counter[str] = Counter()
    for each in counts:
        frequency.update(each.keys())
    return Weights(tuple(_weighted(each, frequency, len(texts)) for each in counts))


def top_terms(weights: Weights, members: Sequence[int], count: int) -> tuple[str, ...]:
    """Return the ``count`` terms with the largest total weight in the documents with the indexes ``members``."""
    total: Counter[str] = Counter()
    for at in members:
        total.update(weights.documents[at])
    return tuple(term for term, _ in sorted(total.items(), key=lambda each: (-each[1], each[0]))[:count])


def clusters(weights: Weights, leaves: int, parents: int) -> list[list[list[str]]]:
    """Cluster the heaviest phrases on two levels: a list of parents, each a list of leaves, each a list of phrases.

    Two phrases are similar if they occur in the same documents (cosine). The two most similar clusters merge until
    ``leaves`` clusters remain; copies of these merge further into ``parents`` clusters. The heaviest phrase of a
    cluster comes first.
    """
    phrases = _phrases(weights)
    if not phrases:
        return []
    leaf_groups = _agglomerate(_cosines(weights, phrases), [[at] for at in range(len(phrases))], leaves)
    outer = _agglomerate(_cosines(weights, phrases), leaf_groups, parents)
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
    """Return the phrases with the largest total weight, heaviest first."""
    total: Counter[str] = Counter()
    for document in weights.documents:
        best = sorted(document.items(), key=lambda each: (-each[1], each[0]))[:PHRASES_PER_DOCUMENT]
        total.update(dict(best))
    ranked = sorted(total.items(), key=lambda each: (-each[1], each[0]))
    return [term for term, _ in ranked[:MAX_PHRASES]]


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


def _agglomerate(cosines: npt.NDArray[Any], groups: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Merge the two groups with the highest average cosine of their members, until ``count`` groups remain."""
    import numpy as np

    members = [list(group) for group in groups]
    indicator = np.zeros((len(members), len(cosines)))
    for row, group in enumerate(members):
        indicator[row, group] = 1.0
    sums, sizes = indicator @ cosines @ indicator.T, indicator.sum(axis=1)
    alive = np.ones(len(members), dtype=bool)
    while alive.sum() > max(count, 1):
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
