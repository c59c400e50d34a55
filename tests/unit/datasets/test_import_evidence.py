"""Reference texts of imported rows as quotes of the pages that the rows name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.datasets.imports import Importer, Order, Taken
from pytest_rageval.datasets.imports.evidence import labels_of
from pytest_rageval.datasets.imports.samples import deepeval, ragas

NOON, THREE = "The ferry leaves at noon.", "Tickets cost 3 euros."


def passages(*texts: str) -> list[dict[str, object]]:
    return [{"id": str(at), "text": text, "role": "positive"} for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("fields", "in_table", "pages"),
    [
        ({"source": "ferry.md"}, False, ["ferry.md", "ferry.md"]),
        ({"sources": ["ferry.md", "tickets.md"]}, False, ["ferry.md", "tickets.md"]),
        ({"Source File": "ferry.md | tickets.md"}, True, ["ferry.md", "tickets.md"]),
        ({"sourceFile": "ferry.md\ntickets.md"}, True, ["ferry.md", "tickets.md"]),
        ({"来源": "a|b.md"}, False, ["a|b.md", "a|b.md"]),
    ],
)
def test_each_text_is_a_quote_of_its_page(fields: dict[str, Any], in_table: bool, pages: list[str]) -> None:
    rest = {"kind": "single", **fields}
    others = [{"id": "n", "text": "Noise.", "role": "counterfactual"}, {"id": "d", "role": "positive"}]
    found = labels_of([*passages(NOON, THREE), *others], ["ferry.md#4"], rest, in_table=in_table)
    assert found == {
        "evidence": [{"page": page, "quote": quote} for page, quote in zip(pages, (NOON, THREE), strict=True)]
    }
    assert rest == {"kind": "single"}


@pytest.mark.parametrize(
    ("texts", "fields"),
    [
        ([NOON], {"kind": "single"}),
        ([], {"source": "ferry.md"}),
        ([" "], {"source": "ferry.md"}),
        ([NOON, THREE], {"source": ["a.md", "b.md", "c.md"]}),
        ([NOON], {"source": None}),
        ([NOON], {"source": [" "]}),
        ([NOON], {"source": [{"name": "ferry.md"}]}),
    ],
)
def test_without_a_page_for_each_text_a_row_stays_as_it_is(texts: list[str], fields: dict[str, Any]) -> None:
    rest = dict(fields)
    assert labels_of(passages(*texts), None, rest, in_table=False) == {}
    assert labels_of(passages(*texts), [4], rest, in_table=False) == {"qrels": {"4": 1}}
    assert labels_of(None, [], rest, in_table=False) == {"qrels": {}}
    assert rest == fields


RAGAS = {
    "user_input": "When does the ferry leave?",
    "reference": "At noon.",
    "reference_contexts": [NOON],
    "reference_context_ids": ["ferry.md#4"],
}
GOLDEN = {"input": "When?", "expected_output": "At noon.", "context": [NOON], "source_file": "ferry.md", "kind": "x"}


@pytest.mark.parametrize(
    ("importer", "row"), [(ragas, {**RAGAS, "metadata": {"source": "ferry.md"}, "kind": "x"}), (deepeval, GOLDEN)]
)
def test_pages_lead_to_evidence_and_not_to_chunk_ids(importer: Importer, row: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    taken = Taken()
    importer(Order((tmp_path / "rows.jsonl",)), taken)
    (case,) = taken.cases
    assert not taken.left
    assert case["evidence"] == [{"page": "ferry.md", "quote": NOON}]
    assert case["kind"] == "x"
    assert not case.keys() & {"qrels", "source", "source_file"}
    found = case["passages"]
    assert isinstance(found, list)
    assert [(each["text"], each["role"]) for each in found] == [(NOON, "positive")]


def test_without_pages_ids_stay_judgements(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(RAGAS), encoding="utf-8")
    taken = Taken()
    ragas(Order((tmp_path / "rows.jsonl",)), taken)
    assert taken.cases[0]["qrels"] == {"ferry.md#4": 1}
    assert "evidence" not in taken.cases[0]
