"""What BM25 costs: the project's retriever against rank-bm25 and bm25s, over the same passages.

    python tests/benchmarks/bm25.py [--passages N] [--queries N] [--rounds N]

The passages are synthetic: words of a vocabulary of 200,000 by Zipf's and Mandelbrot's law (the r-th is drawn with a
weight of 1 / (r + 2.7) ** 1.07), lengths lognormal with a median of 80 words. A query is seven successive words of a
passage, so it contains common words, like a question. All sides get the same words, one query at a time, and return
the ten best passages. rank-bm25 answers only a few queries: one takes it a second, and the others milliseconds.

The project and bm25s must return equal scores, and the same passages except for ties. Each memory figure is the peak
of a separate process; another process, which only holds the passages, is listed for comparison. Targets: at least
100 x rank-bm25, at least 0.85 of bm25s, a saved index loaded in under 0.5 s.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from statistics import median
from typing import Any

from measuring import table

from pytest_rageval.model.case import Passage
from pytest_rageval.retrieval.bm25 import build
from pytest_rageval.retrieval.index_store import IndexStore
from pytest_rageval.retrieval.retriever_parts import RetrieverParts
from pytest_rageval.text.words import words

VOCABULARY, K, FEW = 200_000, 10, 10
K1, B = 0.9, 0.4
KIB = 1 if sys.platform == "darwin" else 1024  # unit of ru_maxrss

PASSAGES_ONLY, RANK_BM25, BM25S = "the passages alone", "rank-bm25", "bm25s"
BUILT, LOADED = "pytest-rageval", "pytest-rageval, loaded"

Best = list[tuple[int, float]]


def write(path: Path, count: int) -> None:
    """Write synthetic passages, one a line."""
    chance = Random(7)
    vocabulary = [f"w{number:x}" for number in range(VOCABULARY)]
    weights = [*accumulate((rank + 2.7) ** -1.07 for rank in range(VOCABULARY))]
    with path.open("w", encoding="utf-8") as stream:
        for _ in range(count):
            length = 1 + round(chance.lognormvariate(4.38, 0.4))
            stream.write(" ".join(chance.choices(vocabulary, cum_weights=weights, k=length)) + "\n")


def read(path: Path) -> tuple[Passage, ...]:
    """Return the passages."""
    with path.open(encoding="utf-8") as stream:
        return tuple(Passage(str(number), line[:-1]) for number, line in enumerate(stream))


def ours(passages: tuple[Passage, ...], folder: Path) -> Any:
    """Return the project's retriever, its index built or loaded."""
    return build(RetrieverParts(passages, {"k1": K1, "b": B}, store=IndexStore(folder)))


def bm25s_search(passages: tuple[Passage, ...]) -> Callable[[str], Best]:
    """Return a search by bm25s alone."""
    import bm25s

    index = bm25s.BM25(k1=K1, b=B)
    index.index([words(passage.text) for passage in passages], show_progress=False)

    def search(query: str) -> Best:
        places, scores = index.retrieve([words(query)], k=K, show_progress=False)
        return list(zip(places[0].tolist(), scores[0].tolist(), strict=True))

    return search


def rank_bm25_search(passages: tuple[Passage, ...]) -> Callable[[str], Best]:
    """Return a search by rank-bm25."""
    import numpy as np
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([words(passage.text) for passage in passages], k1=K1, b=B)

    def search(query: str) -> Best:
        scores = index.get_scores(words(query))
        return [(int(place), float(scores[place])) for place in np.argsort(-scores)[:K]]

    return search


BUILDERS = {RANK_BM25: rank_bm25_search, BM25S: bm25s_search}


def cost(side: str, path: Path, folder: Path) -> tuple[float, float, float]:
    """Prepare a side and run one query; return all seconds, the seconds of loading, and this process's peak in MiB."""
    passages = read(path)
    start, load = time.perf_counter(), 0.0
    if side in (BUILT, LOADED):
        retriever = ours(passages, folder)
        load = retriever.facts["load_s"]
        retriever.search("w0", K)
    elif side in BUILDERS:
        BUILDERS[side](passages)("w0")
    return time.perf_counter() - start, load, getrusage(RUSAGE_SELF).ru_maxrss * KIB / 2**20


def costs(path: Path, folder: Path) -> dict[str, tuple[float, float, float]]:
    """Return the `cost` of each side; each runs in a separate process, one after the other."""
    context = get_context("spawn")  # a fork would inherit the memory of this process
    by_side = {}
    for side in (PASSAGES_ONLY, RANK_BM25, BM25S, BUILT, LOADED):
        with ProcessPoolExecutor(1, context) as process:
            by_side[side] = process.submit(cost, side, path, folder).result()
    return by_side


def same(best: Best, theirs: Best) -> bool:
    """Return whether two lists have equal scores, and the same passages except for ties."""
    close = all(abs(a - b) <= 1e-6 * b for (_, a), (_, b) in zip(best, theirs, strict=True))
    clear = [place for place, score in theirs if score > theirs[-1][1] * (1 + 1e-6)]
    return close and {place for place, _ in best} >= set(clear)


def rates(sides: dict[str, Callable[[str], Best]], queries: Sequence[str], rounds: int) -> dict[str, float]:
    """Return the queries per second of each side, the median over the rounds."""
    rates_of_rounds: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(rounds + 1):
        for side in sides if number % 2 else reversed(sides):
            batch = queries[:FEW] if side == RANK_BM25 else queries
            start = time.perf_counter()
            for query in batch:
                sides[side](query)
            if number:
                rates_of_rounds[side].append(len(batch) / (time.perf_counter() - start))
    return {side: median(each) for side, each in rates_of_rounds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="What BM25 costs.")
    parser.add_argument("--passages", type=int, default=100_000, help="passages (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=300, help="queries (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default: %(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path, folder = Path(name) / "passages.txt", Path(name) / "indexes"
        write(path, args.passages)
        costs_by_side = costs(path, folder)
        disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20
        passages = read(path)
        retriever = ours(passages, folder)
        sides = {side: make(passages) for side, make in BUILDERS.items()}
    chance = Random(8)
    queries = [" ".join(words(chance.choice(passages).text)[:7]) for _ in range(args.queries)]
    for query in queries:
        best = [(int(item.doc_id), item.score or 0.0) for item in retriever.search(query, K)]
        assert same(best, sides[BM25S](query)), query
    rate = rates({BUILT: lambda query: retriever.search(query, K), **sides}, queries, args.rounds)
    rows = [[f"{args.passages:,} passages, {K} best", "queries/s", "ours is"]]
    rows += [[side, f"{each:,.1f}", f"{rate[BUILT] / each:.2f} x"] for side, each in rate.items()]
    print(table([*rows, ["wished", "", ">= 100 x, 0.85 x"]]), end="\n\n")
    rows = [["until the first query", "s", "of them loading", "MiB at the peak", "above the passages"]]
    for side, (seconds, load, peak) in costs_by_side.items():
        above = peak - costs_by_side[PASSAGES_ONLY][2]
        rows.append([side, f"{seconds:.2f}", f"{load:.3f}" if load else "", f"{peak:.0f}", f"{above:.0f}"])
    print(table([*rows, ["wished", "", "< 0.500", "", ""]]), end="\n\n")
    print(f"{disk:.0f} MiB on disk; {len(queries)} queries with the scores of bm25s, and its passages but for ties.")


if __name__ == "__main__":
    main()
