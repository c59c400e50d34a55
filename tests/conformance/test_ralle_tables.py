"""Compare the averages of RaLLe's printed tables with our macro averages, to the printed digit."""

from __future__ import annotations

import json
from csv import DictReader
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from support.projects.rag_project import Project

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.matrix import macro_average

BEYOND = {("T3", "e5 DiskANN-REWRITE"): 0.1, ("T8", "RAG(Petroni)"): 0.1}
"""The rows whose printed average is not the rounded one of their printed cells, and how far it may be off."""


@pytest.fixture(scope="module")
def tables(rageval_data: Path) -> Any:
    path = rageval_data.parent / "reference" / "ralle_tables.json"
    if not path.is_file():
        pytest.skip(f"RaLLe's printed tables are not at {path}")
    return json.loads(path.read_text(encoding="utf-8"))


def cells(row: list[float | None]) -> list[Cell]:
    return [Cell(value, 0 if value is None else 1, 0, None) for value in row]


@pytest.mark.parametrize(("names", "rows", "step"), [(("T3", "T8"), 23, 0.1), (("T9",), 16, 0.001)])
def test_published_averages_are_macro_averages(tables: Any, names: tuple[str, ...], rows: int, step: float) -> None:
    printed = {(name, label): row for name in names for label, row in tables[name].items()}
    assert len(printed) == rows
    for key, (row, average) in printed.items():
        ours = macro_average(cells(row))
        assert ours is not None
        assert abs(ours - average) <= BEYOND.get(key, step / 2 + 1e-9), key


def test_a_missing_cell_withholds_the_average(tables: Any) -> None:
    row, _ = tables["T3"]["BM25"]
    assert macro_average(cells([*row[:-1], None])) is None
    assert macro_average([*cells(row[:-1]), None]) is None
    assert macro_average([]) is None


def test_the_command_averages_seconds_over_datasets(tables: Any, project: Project) -> None:
    """Each set is one case with the printed seconds as its latency; the macro row is the printed average."""
    rows = tables["T9"]
    sets = tables["cols"]
    project.data([{"id": name, "question": "?", "answers": ["a"], "task_set": name} for name in sets])
    answers = [
        {"id": name, "answer": "a", "system": label, "usage": {"latency_s": seconds}}
        for label, (row, _) in rows.items()
        for name, seconds in zip(sets, row, strict=True)
    ]
    project.data(answers, "answers.jsonl")
    project.file("a.rag.toml", '[[testbed]]\nname = "kilt"\ndataset = "jsonl:cases.jsonl"\nmetrics = ["accuracy"]\n')
    assert project.run("--rag-answers=answers.jsonl").status == 0
    ran = project.command("analyze", "deployment", "--by", "task_set", "--csv")
    assert ran.returncode == 0, ran.stderr
    averages = {
        row["system"]: float(row["mean_s"]) for row in DictReader(StringIO(ran.stdout)) if row["task_set"] == "macro"
    }
    assert averages.keys() == rows.keys()
    assert (round(averages["e5+Llama2-70B"], 3), round(averages["BM25"], 3)) == (3.793, 0.121)
    for label, (_, average) in rows.items():
        assert abs(averages[label] - average) <= 0.0005 + 1e-9, label
