"""What vector indexes cost and find: HNSW and DiskANN against exact search, query by query.

    python tests/benchmarks/vectors.py [--passages N] [--dimension N] [--queries N] [--indexes NAME ...]
        [--diskann-python PYTHON]

The vectors have structure, like those of texts: 200 clusters of unequal size around random directions. Within a
cluster, vectors vary along 16 directions of that cluster and a little along all others; their length is 1. (Uniform
noise has hardly any near neighbours, and every index does badly on it.) Queries come from the same distribution and are
not indexed. Rates are medians of single queries. All indexes run in turn in one process (DiskANN in the process that
the package starts for it), with the package's defaults; recall is of the exact ten. Target: HNSW at least 10 x as fast
as flat, at a recall@10 of at least 0.95.
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
WIDTH, NOISE = 0.25, 0.02  # of a cluster along its 16 directions, and along all; its centre has length 1
MIB = 2**20


def random_vectors(count: int, dimension: int) -> Any:
    """Return random vectors in clusters, one a row."""
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
    parser.add_argument(
        "--indexes", nargs="*", default=["hnsw", "diskann"], help="in addition to flat (default: %(default)s)"
    )
    parser.add_argument("--diskann-python", default="", help="Python of an environment that has diskannpy")
    args = parser.parse_args()
    makers: dict[str, Callable[[], VectorIndex]] = {
        "hnsw": lambda: Hnsw.of(Params({})),
        "diskann": lambda: DiskAnn.of(Params({"python": args.diskann_python})),
    }
    points = random_vectors(args.passages + args.queries, args.dimension)
    queries = points[args.passages :].copy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "flat").mkdir()
        np.save(folder / "flat" / FILE, points[: args.passages])
        del points
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
        seconds, recall = measure(vectors, open_, queries)
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


def measure(
    vectors: Vectors, indexes: dict[str, Searcher], queries: Any
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the seconds of each query, scored as the retriever scores, and the recall, by index."""
    seconds: dict[str, list[float]] = {name: [] for name in indexes}
    hits = dict.fromkeys(indexes, 0)
    for number, query in enumerate(queries):
        best = {}
        for name in indexes if number % 2 else reversed(indexes):
            start = time.perf_counter()
            best[name] = vectors.ranked(query, indexes[name].nearest(query, 10), 10)[0]
            seconds[name].append(time.perf_counter() - start)
        for name, positions in best.items():
            hits[name] += len(np.intersect1d(positions, best["flat"]))
    return seconds, {name: count / (10 * len(queries)) for name, count in hits.items()}


if __name__ == "__main__":
    main()
