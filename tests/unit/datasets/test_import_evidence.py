"""Imported reference texts become quotes of the pages that their rows name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_rageval.datasets.imports import Importer, ImportRequest, ImportResult
from pytest_rageval.datasets.imports.evidence import evidence_or_qrels
from pytest_rageval.datasets.imports.samples import deepeval, ragas, table
from pytest_rageval.datasets.rgb import content_id

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
        ({"Source": "ferry.md; tickets.md"}, True, ["ferry.md", "tickets.md"]),
        ({"source": "ferry.md;"}, False, ["ferry.md", "ferry.md"]),
        ({"sources": ["ferry.md;tickets.md"]}, False, ["ferry.md", "tickets.md"]),
    ],
)
def test_each_text_is_a_quote_of_its_page(fields: dict[str, Any], in_table: bool, pages: list[str]) -> None:
    row_fields = {"kind": "single", **fields}
    others = [{"id": "n", "text": "Noise.", "role": "counterfactual"}, {"id": "d", "role": "positive"}]
    fields_of_case = evidence_or_qrels(
        [*passages(NOON, THREE), *others], {}, ["ferry.md#4"], row_fields, ImportResult(), in_table=in_table
    )
    assert fields_of_case == {
        "evidence": [{"page": page, "quote": quote} for page, quote in zip(pages, (NOON, THREE), strict=True)]
    }
    assert row_fields == {"kind": "single"}


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
        ([NOON], {"page": 3}),
        ([NOON], {"page": "3"}),
        ([NOON], {"source": " 12 ", "pages": "3-4"}),
        ([NOON], {"pages": [3, 4]}),
        ([NOON], {"source": "a.md; b.md"}),
    ],
)
def test_a_row_without_a_page_for_each_text_is_unchanged(texts: list[str], fields: dict[str, Any]) -> None:
    row_fields = dict(fields)
    assert evidence_or_qrels(passages(*texts), {}, None, row_fields, ImportResult(), in_table=False) == {}
    assert evidence_or_qrels(passages(*texts), {}, [4], row_fields, ImportResult(), in_table=False) == {
        "qrels": {"4": 1}
    }
    assert evidence_or_qrels(None, {}, [], row_fields, ImportResult(), in_table=False) == {"qrels": {}}
    assert row_fields == fields


@pytest.mark.parametrize(
    ("fields", "page", "other_fields"),
    [
        ({"page": 3, "source": "a.pdf"}, "a.pdf", {"page": 3}),
        ({"page": "Ferry times", "document": "a.pdf"}, "a.pdf", {"page": "Ferry times"}),
        ({"source": "7", "page": "Ferry times"}, "Ferry times", {"source": "7"}),
        (
            {"document": "Ferries", "source": "web", "source file": "a.pdf"},
            "a.pdf",
            {"document": "Ferries", "source": "web"},
        ),
    ],
)
def test_document_names_are_preferred_to_pages_and_numbers_are_ignored(
    fields: dict[str, Any], page: str, other_fields: dict[str, Any]
) -> None:
    row_fields = dict(fields)
    fields_of_case = evidence_or_qrels(passages(NOON), {}, None, row_fields, ImportResult(), in_table=False)
    assert fields_of_case == {"evidence": [{"page": page, "quote": NOON}]}
    assert row_fields == other_fields


def run_import(importer: Importer, path: Path) -> ImportResult:
    result = ImportResult()
    importer(ImportRequest((path,)), result)
    return result


def test_pages_are_skipped_and_counted_if_their_number_differs_from_the_references(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    row = 'Q?,A,"[""{NOON}"", ""{THREE}""]",{pages}\n'
    rows = [row.format(NOON=NOON, THREE=THREE, pages=pages) for pages in ("a.md; b.md", "a.md; b.md; c.md")]
    path.write_text("question,answer,references,Source\n" + "".join(rows), encoding="utf-8")
    result = run_import(table, path)
    assert [case.get("evidence") for case in result.cases] == [
        [{"page": "a.md", "quote": NOON}, {"page": "b.md", "quote": THREE}],
        None,
    ]
    assert result.cases[1]["Source"] == "a.md; b.md; c.md"
    assert result.fields == {"Source: not one page for each reference": 1}
    assert result.lost


@pytest.mark.parametrize(
    ("references", "pages", "skipped_fields"),
    [
        ([{"content": NOON, "source": "a.md"}, {"content": THREE, "source": "b.md"}], ["a.md", "b.md"], {}),
        (
            [{"page_content": NOON, "metadata": {"source": "a.md", "page": 3}, "type": "Document"}],
            ["a.md"],
            {"references.metadata.page": 1, "references.type": 1},
        ),
        ([{"text": NOON, "page": "A", "metadata": {"source": 4}}], ["A"], {"references.metadata.source": 1}),
        ([{"text": NOON, "source": ["a.md", "b.md"]}], ["row.md"], {"references.source": 1}),
        ([{"text": NOON, "source": "a.md"}, THREE], None, {"references without a page": 1}),
        ([{"text": NOON, "source": "a.md; b.md"}], ["row.md"], {"references.source": 1}),
        ([{"text": NOON, "metadata": "x"}], ["row.md"], {"references.metadata": 1}),
    ],
)
def test_a_reference_may_name_its_own_page(
    references: list[object], pages: list[str] | None, skipped_fields: dict[str, int], tmp_path: Path
) -> None:
    row = {"question": "Q?", "answer": "A", "references": references, "source": "row.md"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    result = run_import(table, tmp_path / "rows.jsonl")
    [case] = result.cases
    quotes = (NOON, THREE)[: len(references)]
    evidence = [{"page": page, "quote": quote} for page, quote in zip(pages, quotes, strict=True)] if pages else None
    assert case.get("evidence") == evidence
    assert case.get("source") == (None if pages == ["row.md"] else "row.md")
    assert [set(each) for each in cast("list[dict[str, object]]", case["passages"])] == [{"id", "text", "role"}] * len(
        quotes
    )
    assert result.fields == skipped_fields


def test_counterfactual_references_are_not_evidence(tmp_path: Path) -> None:
    row = {"question": "Q?", "answer": "A", "counterfactual_reference": {"text": NOON, "source": "a.md"}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    result = run_import(table, tmp_path / "rows.jsonl")
    assert "evidence" not in result.cases[0]
    assert result.fields == {"counterfactual_reference.source": 1}


def test_pages_of_retrieved_contexts_stay_in_the_ranking(tmp_path: Path) -> None:
    contexts = [{"page_content": NOON, "metadata": {"source": "a.md"}}]
    row = {"user_input": "Q?", "reference": "A", "response": "A", "retrieved_contexts": contexts}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    result = run_import(ragas, tmp_path / "rows.jsonl")
    assert result.answers[0]["ranking"] == [{"id": content_id(NOON), "text": NOON, "page": "a.md"}]
    assert not result.lost


def test_the_hop_prefix_of_a_reference_is_removed(tmp_path: Path) -> None:
    hops = [f"<1-hop>\n\n{NOON}", f"<2-hop>\n\n{THREE}"]
    row = {**RAGAS, "reference_contexts": hops, "reference_context_ids": None, "source": ["a.md", "b.md"]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    [case] = run_import(ragas, tmp_path / "rows.jsonl").cases
    assert case["evidence"] == [{"page": "a.md", "quote": NOON}, {"page": "b.md", "quote": THREE}]
    assert case["passages"] == [{"id": content_id(text), "text": text, "role": "positive"} for text in (NOON, THREE)]


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
def test_pages_become_evidence_instead_of_chunk_ids(importer: Importer, row: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    result = ImportResult()
    importer(ImportRequest((tmp_path / "rows.jsonl",)), result)
    (case,) = result.cases
    assert not result.skipped
    assert case["evidence"] == [{"page": "ferry.md", "quote": NOON}]
    assert case["kind"] == "x"
    assert not case.keys() & {"qrels", "source", "source_file"}
    passages_of_case = case["passages"]
    assert isinstance(passages_of_case, list)
    assert [(each["text"], each["role"]) for each in passages_of_case] == [(NOON, "positive")]


def test_chunk_ids_without_pages_become_judgements(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(RAGAS), encoding="utf-8")
    result = ImportResult()
    ragas(ImportRequest((tmp_path / "rows.jsonl",)), result)
    assert result.cases[0]["qrels"] == {"ferry.md#4": 1}
    assert "evidence" not in result.cases[0]
