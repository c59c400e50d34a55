"""Compare the assembly of passages with RGB's, for reference vectors and all published rows."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.datasets import rgb
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.testbeds.composition import Composition
from pytest_rageval.testbeds.rgb_compat import assemble

PERMUTATIONS = [
    [0], [1, 0], [2, 1, 0], [2, 3, 1, 0], [1, 4, 3, 2, 0], [5, 3, 4, 1, 2, 0], [6, 3, 5, 1, 4, 2, 0],
    [7, 3, 5, 1, 4, 2, 6, 0], [8, 3, 5, 2, 6, 1, 7, 4, 0], [3, 9, 1, 5, 7, 6, 8, 2, 4, 0],
]  # fmt: skip

SETTINGS = [
    (passages, noise, correct)
    for passages in (0, 1, 2, 3, 5, 7, 10, 25)
    for noise in (0, 0.1, 0.2, 0.28, 0.4, 0.5, 0.6, 0.8, 0.9, 1)
    for correct in (0, 0.2, 0.4)
    if noise + correct <= 1 and math.ceil(passages * noise) + math.ceil(passages * correct) <= passages
]


def names(instance: Instance, passages: int, noise: float, correct: float = 0.0) -> list[str]:
    questions = Composition("positive", passages, noise, correct)
    return [p.id for p in assemble(instance, questions)]


@pytest.fixture(scope="module")
def published(rageval_data: Path) -> dict[str, tuple[Instance, ...]]:
    return {path.stem: rgb.load(path) for path in sorted((rageval_data / "rgb").glob("*.json"))}


@pytest.mark.parametrize("order", PERMUTATIONS, ids=len)
def test_a_pool_is_permuted_as_in_the_reference(order: list[int]) -> None:
    pool = tuple(Passage(f"p{i}", "t", role="positive") for i in range(12))
    assert names(Instance("x", "Q?", passages=pool), len(order), 0) == [f"p{i}" for i in order]


@pytest.mark.parametrize(
    ("row", "noise", "correct", "expected"),
    [
        ("zh_refine-0", 0.6, 0.0, "p1 n2 n1 n0 p0"),
        ("zh_refine-0", 1.0, 0.0, "n1 n4 n3 n2 n0"),
        ("en_fact-0", 0.0, 0.0, "w0 w1 w2"),
        ("en_fact-1", 0.0, 0.0, "w2 w0 w1 w3"),
        ("en_fact-2", 0.0, 0.0, "w0 w1 w2 w4 w5"),
        ("en_fact-2", 0.4, 0.2, "w0 n0 n1 p6 w2"),
    ],
)
def test_passages_equal_the_reference_vectors(
    published: dict[str, tuple[Instance, ...]], row: str, noise: float, correct: float, expected: str
) -> None:
    (instance,) = (i for i in published[row.split("-")[0]] if i.id == row)
    assert " ".join(names(instance, 5, noise, correct)) == expected


def compositions(instances: tuple[Instance, ...], passages: int, noise: float) -> Counter[str]:
    """Count the supplied compositions, such as "5p0n"."""
    rows = [Counter(name[0] for name in names(instance, passages, noise)) for instance in instances]
    return Counter(f"{row['p'] + row['w']}p{row['n']}n" for row in rows)


def test_published_files_have_the_expected_compositions(published: dict[str, tuple[Instance, ...]]) -> None:
    assert compositions(published["en_fact"], 5, 0) == {
        "5p0n": 38, "4p0n": 12, "3p0n": 17, "2p0n": 19, "1p0n": 14,
    }  # fmt: skip
    assert compositions(published["zh_fact"], 5, 1)["0p0n"] == 3
    for noise in (0, 0.2, 0.4, 0.6, 0.8, 1):
        exact = math.ceil(5 * noise)
        assert compositions(published["zh_refine"], 5, noise) == {f"{5 - exact}p{exact}n": 300}
    assert compositions(published["zh_refine"], 10, 0)["5p5n"] == 118
    assert compositions(published["zh_refine"], 10, 0.9) == {"1p9n": 269, "2p8n": 6, "3p7n": 9, "4p6n": 10, "5p5n": 6}


def reference(row: dict[str, Any], passages: int, noise: float, correct: float) -> list[str]:
    """Return the passages that RGB supplies, reimplemented from its description, with Python's global generator."""
    random.seed(2333)
    if passages == 0:
        return []
    noisy = math.ceil(passages * noise)
    if "positive_wrong" in row:
        docs = reference_of_counterfactual(row, passages - noisy, math.ceil(passages * correct)) + negatives(row, noisy)
    elif row["positive"] and isinstance(row["positive"][0], list):
        docs = reference_of_integration(row, passages - noisy)
        docs += negatives(row, max(0, passages - len(docs)))
    else:
        good = passages - noisy
        if noise == 1:
            noisy, good = passages, 0
        elif noisy > len(row["negative"]):
            noisy = len(row["negative"])
            good = passages - noisy
        elif good > len(row["positive"]):
            good = len(row["positive"])
            noisy = passages - good
        docs = [f"p{i}" for i in range(len(row["positive"]))][:good] + negatives(row, noisy)
    random.shuffle(docs)
    return docs


def reference_of_counterfactual(row: dict[str, Any], good: int, correct: int) -> list[str]:
    order = list(range(len(row["positive"])))
    chosen_ids = random.sample(order, min(len(order), good - correct))
    docs = [f"w{i}" for i in chosen_ids]
    unchosen = [i for i in order if i not in chosen_ids]
    if correct > 0 and unchosen:
        docs += [f"p{i}" for i in random.sample(unchosen, min(len(unchosen), correct))]
    return docs


def reference_of_integration(row: dict[str, Any], good: int) -> list[str]:
    groups = [[f"p{g}.{i}" for i in range(len(group))] for g, group in enumerate(row["positive"])]
    for group in groups:
        random.shuffle(group)
    docs = [group[0] for group in groups]
    turn = 1
    while len(docs) < good and turn < max(map(len, groups)):
        docs += [group[turn] for group in groups if len(group) > turn][: good - len(docs)]
        turn += 1
    return docs


def negatives(row: dict[str, Any], number: int) -> list[str]:
    return [f"n{i}" for i in range(len(row["negative"]))][:number]


def integration_rows() -> Iterator[dict[str, Any]]:
    """Yield records in the schema of the integration files, with groups and pools of many sizes."""
    for number in range(200):
        sizes = [1 + (number * 7 + g * 5) % 11 for g in range(2 + number % 6)]
        yield {
            "id": number, "query": "Q?", "answer": ["a", "b"], "asnwer1": "a", "answer2": [],
            "positive": [[f"g{g} {i}" for i in range(size)] for g, size in enumerate(sizes)],
            "negative": [f"n {i}" for i in range(number % 13)],
        }  # fmt: skip


@pytest.fixture
def untouched_random() -> Iterator[None]:
    state = random.getstate()
    yield
    random.setstate(state)


@pytest.mark.usefixtures("untouched_random")
@pytest.mark.parametrize("name", ["en_base", "en_fact", "zh_fact", "zh_refine"])
def test_passages_of_every_published_row_equal_the_reference(
    published: dict[str, tuple[Instance, ...]], rageval_data: Path, name: str
) -> None:
    lines = (rageval_data / "rgb" / f"{name}.json").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    assert len(rows) == len(published[name])
    for row, instance in zip(rows, published[name], strict=True):
        for setting in SETTINGS:
            assert names(instance, *setting) == reference(row, *setting), (instance.id, setting)


@pytest.mark.usefixtures("untouched_random")
def test_passages_of_integration_records_equal_the_reference(tmp_path: Path, fixtures_dir: Path) -> None:
    path = tmp_path / "en_int.json"
    ours = (fixtures_dir / "datasets" / "rgb" / "en_int.json").read_text(encoding="utf-8").splitlines()
    rows = [*integration_rows(), *({**json.loads(line), "id": f"ours-{line[:8]}"} for line in ours)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for row, instance in zip(rows, rgb.load(path), strict=True):
        for setting in SETTINGS:
            assert names(instance, *setting) == reference(row, *setting), (instance.id, setting)
