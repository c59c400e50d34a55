"""Compare our values on KILT's test files with those of KILT's evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from pytest_rageval.datasets import kilt
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

THIRD = 1 / 3


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def pages(output: Any) -> list[str]:
    return [str(each["wikipedia_id"]).strip() for each in output.get("provenance", ())]


def instances(path: Path, copy: Path) -> tuple[Instance, ...]:
    """Read a gold file like the format ``kilt``; some lack the question, which KILT's tests do not need."""
    lines = (json.dumps({"input": "?"} | gold) for gold in rows(path))
    copy.write_text("\n".join(lines), encoding="utf-8")
    return kilt.load(copy)


def sample(instance: Instance, guess: Any) -> Sample:
    case = Case(instance.id, instance, None, {})
    output = guess["output"][0]
    result = Ranking(tuple(ScoredPassage(f"{page}#{at}", page=page) for at, page in enumerate(pages(output))))
    return Sample(case, Answer(output.get("answer", ""), result))


@pytest.mark.parametrize(
    ("gold", "guess", "expected"),
    [
        (
            "gold1",
            "guess1_1",
            {
                "exact_match": 2 / 3,
                "token_f1": 0.8333333333333334,
                "kilt:exact_match": THIRD,
                "kilt:token_f1": THIRD,
                "kilt_em_compat": 2 / 3,
                "kilt_f1_compat": 0.8333333333333334,
                "kilt_rouge_l_compat": 0.7222222178240741,
                "kilt:kilt_em_compat": THIRD,
                "kilt:kilt_f1_compat": THIRD,
                "kilt:kilt_rouge_l_compat": 0.3333333316666667,
                "page_Rprec": THIRD,
                "page_R@5": THIRD,
            },
        ),
        (
            "gold1",
            "gold1",
            {
                "kilt_accuracy": 1,
                "kilt:kilt_accuracy": 1,
                "kilt_has_answer_compat": 1,
                "kilt_rouge_l_compat": 0.999999995,
                "page_R@1": 1,
            },
        ),
        (
            "gold3",
            "guess3_1",
            {
                "exact_match": 0,
                "token_f1": 0.5102040816326531,
                "kilt:token_f1": 0.25510204081632654,
                "kilt_em_compat": 0,
                "kilt_f1_compat": 0.5102040816326531,
                "kilt_rouge_l_compat": 0.44705881864636676,
                "kilt:kilt_rouge_l_compat": 0.22352940932318338,
            },
        ),
        (
            "gold2",
            "guess2_1",
            {"page_Rprec": 0.5, "page_P@1": 1, "page_P@5": 0.4, "page_R@5": 2 / 3, "page_Success@5": 1},
        ),
        ("gold2", "guess2_2", {"page_Rprec": 1, "page_P@1": 1, "page_P@5": 0.2, "page_R@5": THIRD}),
    ],
    ids=["guess1_1", "gold1", "guess3_1", "guess2_1", "guess2_2"],
)
def test_means_equal_kilts(
    rageval_data: Path, tmp_path: Path, gold: str, guess: str, expected: dict[str, float]
) -> None:
    folder = rageval_data / "kilt"
    if not folder.is_dir():
        pytest.skip(f"KILT's test files are not at {folder}")
    golds = instances(folder / f"{gold}.jsonl", tmp_path / "gold.jsonl")
    pairs = zip(golds, rows(folder / f"{guess}.jsonl"), strict=True)
    samples = [sample(*pair) for pair in pairs]
    metrics = Catalog().metrics
    values = {name: fmean(metrics.get(name).compute(each).value or 0.0 for each in samples) for name in expected}
    assert values == pytest.approx(expected, abs=1e-12)
