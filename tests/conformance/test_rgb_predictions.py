"""Compare the scores of imported RGB predictions with `_result.json`, for every kind of file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_rgb_labels import labels_of_the_raw_record, rows

from pytest_rageval.cli import main
from pytest_rageval.datasets import jsonl
from pytest_rageval.datasets.recorded import load_recorded
from pytest_rageval.metrics import BUILTIN
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample
from pytest_rageval.registry import Registry
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.settings import parse_settings

METRICS: Registry[Metric] = Registry("metric", BUILTIN)
INTEGRATION: list[dict[str, Any]] = [
    {"id": 0, "query": "Who runs the harbour, and since when?", "answer": ["Ann Reed", ["2011", "since 2011"]]},
    {"id": 1, "query": "Which two ferries run?", "answer": [["Gull"], ["Tern", "the Tern"]]},
    {"id": 2, "query": "Name the pier and the captain.", "answer": ["East Pier", "Ida Holm"]},
]
"""Our own records in the layout of RGB's integration files, which are not available here."""

KINDS = [
    ("en_base", "en", 0.0), ("en_base", "en_refine", 0.4), ("en_base", "en", 1.0), ("zh_refine", "zh_refine", 0.6),
    ("zh_refine", "zh", 1.0), ("en_fact", "en_fact", 0.0), ("zh_fact", "zh_fact", 0.0), ("", "en_int", 0.2),
    ("", "zh_int", 0.0),
]  # fmt: skip
"""File of the data (or "" for our own), dataset in the name of a prediction file, noise rate."""


def answer_of(record: dict[str, Any], number: int) -> str:
    """Return a possible answer: right, wrong, half right, rejecting or flagging, in both languages."""
    slots = record["answer"] if isinstance(record["answer"], list) else [record["answer"]]
    right = [slot if isinstance(slot, str) else slot[-1] for slot in slots]
    everything, part = " and ".join(right), right[0]
    wording = [
        everything, everything.upper(), f"It is {part}.", "It is not known.", "",
        f"insufficient information, but {everything}", "Insufficient information.",
        "I can not answer the question because of the insufficient information in documents.",
        "文档信息不足，因此我无法基于提供的文档回答该问题。", f"文档信息 不足。{everything}", " ".join(everything),
        f"There are factual errors in the provided documents. The answer is {everything}.",
        "There are factual errors in the provided documents. There is insufficient information.",
        "There are factual errors in the provided documents. I have no better one.",
        f"There are no factual errors. {everything}", f"Factual errors exist: {everything}",
        f"提供文档的文档存在事实性错误。答案是{everything}", f"提供文档的文档存在 事实性 错误。{part}",
    ]  # fmt: skip
    return wording[number % len(wording)]


def predictions(records: list[dict[str, Any]], dataset: str, noise_rate: float) -> Iterator[dict[str, Any]]:
    """Yield lines in the layout of RGB's prediction files."""
    for number, record in enumerate(records):
        prediction = answer_of(record, number)
        if "zh" in dataset:
            prediction = prediction.replace(" ", "")
        docs = [*record.get("positive_wrong", record.get("positive", [])), *record.get("negative", [])][:5]
        yield {
            "id": record["id"],
            "query": record["query"],
            "ans": record["answer"],
            "label": labels_of_the_raw_record(prediction, record["answer"], dataset),
            "prediction": prediction,
            "docs": docs,
            "noise_rate": noise_rate,
            "factlabel": int("事实性错误" in prediction or "factual errors" in prediction),
        }


def published(lines: list[dict[str, Any]], noise_rate: float) -> dict[str, float]:
    """Return the rates that RGB writes, computed from the labels of its lines."""
    correct = [0 not in line["label"] and 1 in line["label"] for line in lines]
    rejected = [noise_rate == 1 and line["label"][0] == -1 for line in lines]
    flagged = [line for line in lines if line["factlabel"] == 1]
    return {
        "rgb_all_rate_compat": sum(a or b for a, b in zip(correct, rejected, strict=True)) / len(lines),
        "fact_check_rate_compat": len(flagged) / len(lines),
        "correct_rate_compat": sum(0 not in line["label"] for line in flagged) / len(flagged),
        "rejection_rate_rgb_compat": sum(line["label"] == [-1] for line in lines) / len(lines),
    }


def ours(folder: Path) -> dict[str, dict[str, float]]:
    """Return the means of the imported cases, by source and noise rate."""
    cases = {
        case.id: case
        for _, case in expand(parse_settings({"dataset": "jsonl:x"}, "test"), jsonl.load(folder / "cases.jsonl"), 0)
    }
    values: dict[str, dict[str, list[float]]] = {}
    for row in load_recorded(folder / "cases.answers.jsonl"):
        case = cases[row.id]
        cell = values.setdefault(f"{case.facets['source']} {case.facets['noise_rate']}", {})
        for name in published([{"label": [1], "factlabel": 1}], 0.0):
            sample = Sample(case, row.answer)
            assert METRICS.get("error_detection_rate").compute(sample).value in (
                (1.0, 0.0) if case.supplied else (None,)
            )
            value = METRICS.get(name).compute(sample).value
            cell.setdefault(name, []).extend([] if value is None else [value])
    return {cell: {name: sum(of) / len(of) for name, of in means.items()} for cell, means in values.items()}


def test_every_kind_of_prediction_file_is_imported(
    rageval_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, total = {}, 0
    for stem, dataset, noise_rate in KINDS:
        lines = list(predictions(rows(rageval_data, stem) if stem else INTEGRATION * 12, dataset, noise_rate))
        for number, line in enumerate(lines):
            line["id"] = number
        total += len(lines)
        expected[f"{dataset} {noise_rate:g}"] = published(lines, noise_rate)
        name = f"prediction_{dataset}_gull-7b_temp0.2_noise{noise_rate}_passage5_correct0.0.json"
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["import", "rgb-predictions", str(tmp_path), "--out", str(tmp_path / "cases.jsonl")]) == 0
    assert f"{total} answers of {total} rows" in capsys.readouterr().out
    measured = ours(tmp_path)
    assert measured.keys() == expected.keys()
    for cell, rates in expected.items():
        assert measured[cell] == pytest.approx(rates), cell
        assert all(0 < rate <= 1 for rate in rates.values()), cell
    assert expected["en 1"]["rgb_all_rate_compat"] > expected["en 0"]["rgb_all_rate_compat"]
