"""Vectors for tests: an encoder without a model, and corpora of words."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_rageval.model.case import Passage

__all__ = ["WordEncoder", "sentences"]

WORDS = ("ferry", "harbour", "noon", "railway", "mayor", "kettle", "warranty", "parcel", "tram", "ticket", "museum")


class WordEncoder:
    """Encodes a text as the sum of pseudo-random vectors, one per word."""

    def __init__(self, dimension: int = 16, digest: str = "words") -> None:
        self.dimension = dimension
        self.digest = f"{digest}{dimension}"
        self.inputs: list[str] = []

    def encode(self, texts: Sequence[str], /) -> Any:
        self.inputs += texts
        rows = [sum(map(self._vector, text.split()), np.zeros(self.dimension)) for text in texts]
        return np.array(rows, dtype=np.float32)

    def _vector(self, word: str) -> Any:
        return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(self.dimension)


def sentences(count: int, seed: int = 1) -> tuple[Passage, ...]:
    """Return passages d0, d1 and so on, each of six words."""
    chance = random.Random(seed)
    return tuple(Passage(f"d{n}", " ".join(chance.choice(WORDS) for _ in range(6))) for n in range(count))
