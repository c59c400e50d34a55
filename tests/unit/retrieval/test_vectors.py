"""Exact search in vectors, the approximate indexes, and their recall."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.samples.diskann_settings import diskann

from pytest_rageval.errors import DataError
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.vectors import Vectors, recall_at_10, resident_bytes

VALUES = st.integers(-40, 40).map(lambda value: value / 16)


def random_matrix(count: int, seed: int = 3) -> Any:
    rows = np.random.default_rng(seed).standard_normal((count, 12)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@given(arrays(np.float32, (9, 3), elements=VALUES), arrays(np.float32, 3, elements=VALUES), st.integers(1, 12))
def test_nearest_equals_a_full_sort(matrix: Any, query: Any, k: int) -> None:
    exact = (matrix.astype(np.float64) * query).sum(axis=1)
    expected = sorted(range(9), key=lambda at: (-exact[at], at))[:k]
    assert Vectors(matrix).nearest(query, k).tolist() == expected


def test_equal_vectors_keep_the_order_of_the_corpus() -> None:
    matrix = random_matrix(1_000)
    twins = [5, 77, 400, 999]
    matrix[twins] = matrix[5]
    assert Vectors(matrix).nearest(matrix[5], 4).tolist() == twins


class HalfRecall:
    """Finds every second one of the nearest vectors."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def nearest(self, query: Any, k: int) -> Any:
        return self.vectors.nearest(query, 2 * k)[::2]

    def resident_bytes(self) -> int | None:
        return None


def test_recall_counts_neighbours_without_the_vector_itself() -> None:
    vectors = Vectors(random_matrix(300))
    assert recall_at_10(vectors, vectors) == 1.0
    assert recall_at_10(vectors, HalfRecall(vectors)) == 0.5
    assert recall_at_10(Vectors(random_matrix(1)), vectors) is None
    few = Vectors(random_matrix(4))
    assert recall_at_10(few, few) == 1.0


def test_ties_count_as_found() -> None:
    same = Vectors(np.ones((40, 4), dtype=np.float32))

    class Last:
        def nearest(self, query: Any, k: int) -> Any:
            return np.arange(40)[-k:]

        def resident_bytes(self) -> int | None:
            return None

    assert recall_at_10(same, Last()) == 1.0


def test_two_builds_write_the_same_graph(tmp_path: Path) -> None:
    pytest.importorskip("usearch", reason="the extra dense is not installed")
    from pytest_rageval.retrieval.hnsw import Hnsw

    vectors, index = Vectors(random_matrix(2_000)), Hnsw.of(Params({}))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        index.build(vectors, tmp_path / name)
    assert (tmp_path / "a/graph.usearch").read_bytes() == (tmp_path / "b/graph.usearch").read_bytes()
    opened = index.open(tmp_path / "a", 2_000)
    assert (recall_at_10(vectors, opened) or 0) >= 0.95
    mapped = resident_bytes(tmp_path / "a")
    assert mapped is None or mapped > 2_000 * 12 * 2
    with pytest.raises(DataError, match="holds no graph of 1,999 vectors; remove the folder"):
        index.open(tmp_path / "a", 1_999)
    (tmp_path / "b/graph.usearch").write_bytes(b"nothing")
    with pytest.raises(DataError, match="holds no graph of 2,000 vectors"):
        index.open(tmp_path / "b", 2_000)


def test_vectors_too_large_for_16_bits_are_stored_with_32(tmp_path: Path) -> None:
    pytest.importorskip("usearch", reason="the extra dense is not installed")
    from pytest_rageval.retrieval.hnsw import Hnsw

    vectors, index = Vectors(random_matrix(200) * np.float32(1e6)), Hnsw.of(Params({}))
    index.build(vectors, tmp_path)
    assert index.open(tmp_path, 200).nearest(vectors.matrix[3], 1).tolist().count(3) == 1
    assert (recall_at_10(vectors, index.open(tmp_path, 200)) or 0) >= 0.8


def test_a_damaged_diskann_index_is_refused(tmp_path: Path) -> None:
    index = diskann()
    with pytest.raises(DataError, match=r"its diskannpy process ended with status 1; check .* remove the folder"):
        index.open(tmp_path, 3)
    with pytest.raises(DataError, match="diskannpy cannot index 0 vectors: "):
        index.build(Vectors(np.zeros((0, 4), dtype=np.float32)), tmp_path)


def test_a_dead_diskann_process_is_restarted_once(tmp_path: Path) -> None:
    vectors, index = Vectors(random_matrix(50)), diskann()
    index.build(vectors, tmp_path)
    opened = index.open(tmp_path, 50)
    expected = opened.nearest(vectors.matrix[7], 3).tolist()
    assert 7 in expected
    for _ in range(2):
        opened._process.kill()  # it may end before or during the query
        assert opened.nearest(vectors.matrix[7], 3).tolist() == expected
    opened._process.kill()
    opened._process.wait()
    opened._command = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    with pytest.raises(DataError, match="was killed by signal 9; check that it has enough memory"):
        opened.nearest(vectors.matrix[7], 3)


def test_the_late_reply_of_an_interrupted_diskann_query_is_not_used_for_the_next_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    vectors, index = Vectors(random_matrix(50)), diskann(search_complexity=4)
    index.build(vectors, tmp_path)
    opened = index.open(tmp_path, 50)
    expected = opened.nearest(vectors.matrix[7], 3).tolist()
    with monkeypatch.context() as patch:
        patch.setattr(opened, "_read_number", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened.nearest(vectors.matrix[9], 3)
    assert opened.nearest(vectors.matrix[7], 3).tolist() == expected


def test_modules_in_the_users_folder_do_not_shadow_those_of_the_diskann_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, indexes = tmp_path / "project", tmp_path / "indexes"
    for folder in (project, indexes):
        folder.mkdir()
    for name in ("json", "struct", "numpy"):
        (project / f"{name}.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(project)
    monkeypatch.syspath_prepend(project)
    vectors, index = Vectors(random_matrix(50)), diskann()
    index.build(vectors, indexes)
    assert 7 in index.open(indexes, 50).nearest(vectors.matrix[7], 3)
