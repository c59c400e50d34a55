"""What indexes of vectors cost and find: HNSW and DiskANN against the exact search, a query at a time.

    python tests/benchmarks/vectors.py [--passages N] [--dimension N] [--queries N] [--indexes NAME ...]
        [--diskann-python PYTHON]

The vectors have structure, as those of texts do: 200 clusters of unequal size around directions drawn by chance, in
each of which a vector varies along 16 directions of its own and a little along all, then made as long as 1. (Uniform
noise has no near neighbours to speak of, and flatters no index.) Queries are drawn alike and are not among them.
Rates are medians of single queries, all indexes by turns in one process (DiskANN in the one that the package gives it),
with the package's defaults; recall is of the exact ten. Wished: HNSW at 10 x the rate of flat or more, at a recall@10
of 0.95 or more.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measuring import table

from pytest_rageval.retrieval.diskann import DiskAnn
from pytest_rageval.retrieval.hnsw import Hnsw
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.vectors import FILE, Searcher, VectorIndex, Vectors

CLUSTERS, INNER = 200, 16
WIDTH, NOISE = 0.25, 0.02  # of a cluster along its own directions, and along all; its centre is 1 away from the origin
MIB = 2**20


def made(count: int, dimension: int) -> Any:
    """Return vectors with structure, one a row."""
    chance = np.random.default_rng(7)
    centres = chance.standard_normal((CLUSTERS, dimension))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    shares = chance.dirichlet(np.full(CLUSTERS, 2.0))
    member = chance.choice(CLUSTERS, count, p=shares)
    rows = np.empty((count, dimension), dtype=np.float32)
    for cluster in range(CLUSTERS):
        at = np.flatnonzero(member == cluster)
        directions = chance.standard_normal((INNER, dimension)) / np.sqrt(dimension)
        inner = chance.standard_normal((len(at), INNER)) * WIDTH
        rows[at] = centres[cluster] + inner @ directions + chance.standard_normal((len(at), dimension)) * NOISE
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="What indexes of vectors cost and find.")
    parser.add_argument("--passages", type=int, default=100_000, help="vectors (default: %(default)s)")
    parser.add_argument("--dimension", type=int, default=384, help="numbers a vector (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=500, help="queries (default: %(default)s)")
    parser.add_argument("--indexes", nargs="*", default=["hnsw", "diskann"], help="beside flat (default: %(default)s)")
    parser.add_argument("--diskann-python", default="", help="Python of an environment that has diskannpy")
    args = parser.parse_args()
    makers: dict[str, Callable[[], VectorIndex]] = {
        "hnsw": lambda: Hnsw.of(Params({})),
        "diskann": lambda: DiskAnn.of(Params({"python": args.diskann_python})),
    }
    drawn = made(args.passages + args.queries, args.dimension)
    queries = drawn[args.passages :].copy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "flat").mkdir()
        np.save(folder / "flat" / FILE, drawn[: args.passages])
        del drawn
        vectors = Vectors.load(folder / "flat", args.passages)
        open_: dict[str, Searcher] = {"flat": vectors}
        built, loaded = {"flat": 0.0}, {"flat": 0.0}
        for kind in (makers[name]() for name in args.indexes):
            (folder / kind.name).mkdir()
            start = time.perf_counter()
            kind.build(vectors, folder / kind.name)
            built[kind.name] = time.perf_counter() - start
            start = time.perf_counter()
            open_[kind.name] = kind.open(folder / kind.name, args.passages)
            loaded[kind.name] = time.perf_counter() - start
        seconds, recall = measured(vectors, open_, queries)
        head = f"{args.passages:,} x {args.dimension}"
        rows = [[head, "build s", "load s", "ms a query", "p95", "x flat", "recall@10",
                 "MiB in memory", "MiB on disk"]]  # fmt: skip
        for index, searcher in open_.items():
            at = median(seconds[index])
            resident = searcher.resident_bytes()
            memory = "?" if resident is None else f"{resident / MIB:.0f}"
            disk = sum(path.stat().st_size for path in (folder / index).glob("*")) / MIB
            rows.append([index, f"{built[index]:.1f}", f"{loaded[index]:.3f}", f"{at * 1e3:.3f}",
                         f"{np.percentile(seconds[index], 95) * 1e3:.3f}", f"{median(seconds['flat']) / at:.1f}",
                         f"{recall[index]:.4f}", memory, f"{disk:.0f}"])  # fmt: skip
        print(table([*rows, ["wished of hnsw", "< 120", "", "", "", ">= 10", ">= 0.95", "", ""]]))


def measured(
    vectors: Vectors, indexes: dict[str, Searcher], queries: Any
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the seconds of each query, scored as the retriever scores, and the recall, by index."""
    seconds: dict[str, list[float]] = {name: [] for name in indexes}
    found = dict.fromkeys(indexes, 0)
    for number, query in enumerate(queries):
        best = {}
        for name in indexes if number % 2 else reversed(indexes):
            start = time.perf_counter()
            best[name] = vectors.ranked(query, indexes[name].nearest(query, 10), 10)[0]
            seconds[name].append(time.perf_counter() - start)
        for name, positions in best.items():
            found[name] += len(np.intersect1d(positions, best["flat"]))
    return seconds, {name: count / (10 * len(queries)) for name, count in found.items()}


if __name__ == "__main__":
    main()
