"""Lint checks of ids: duplicates, and judgements of documents that are missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.samples.lint_samples import found_by, of, record

from pytest_rageval.model.case import Passage


def test_duplicate_ids_are_found() -> None:
    [finding] = found_by("duplicate_id", record(line=2), record("q2"), record(line=1))
    assert (finding.id, finding.severity, finding.origin) == ("q1", "error", "cases.jsonl:2")
    assert finding.problem == "duplicate id, first used in cases.jsonl:1"


def test_judgements_of_passages_missing_in_the_record_are_found() -> None:
    passages = (Passage("p0", "a", page="doc-1"), Passage("p1", "b"))
    one = record(passages=passages, qrels={"doc-1": 1, "p1": 2, "p7": 0})
    two = record("q2", passages=passages, qrels={"p1": 1, "p8": 1, "p9": 1})
    [finding] = found_by("missing_gold_id", one, two)
    assert (finding.id, finding.severity) == ("q2", "warning")
    assert finding.problem == "its passages lack 2 of 3 ids judged relevant: 'p8', 'p9'"


def test_judgements_of_a_corpus_are_not_compared_with_passages() -> None:
    assert found_by("missing_gold_id", record(passages=of("", "a"), qrels={"doc-1": 1}), record("q2")) == []


def test_a_record_without_judgements_is_found_if_most_have_them() -> None:
    with_qrels = [record(name, qrels={"d": 1}) for name in ("q2", "q3")]
    [finding] = found_by("missing_gold_id", *with_qrels, record(qrels={"d": 0}))
    assert (finding.id, finding.severity) == ("q1", "warning")
    assert finding.problem.startswith("no document is judged relevant, unlike in most records")
    assert found_by("missing_gold_id", *with_qrels, record(answerable=False, gold=())) == []
    assert found_by("missing_gold_id", with_qrels[0], record()) == []


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    rows = [{"id": "d1", "text": "a"}, {"id": "d2", "text": "b", "page": "Page"}]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "corpus.jsonl"


def test_judgements_of_documents_missing_in_the_corpus_are_found(corpus: str) -> None:
    complete = record(qrels={"d1": 1, "Page": 1, "d2#3": 1, "d9": 0})
    missing = record("q2", qrels={"d1": 1, "d8": 1})
    pages = record("q3", provenance=(("Page",), ("Nowhere", "Page")))
    positives = record("q4", passages=(Passage("p0", "x", role="positive", page="gone"),))
    findings = found_by("missing_gold_id", complete, missing, pages, positives, corpus=corpus)
    assert [(each.id, each.severity) for each in findings] == [(name, "error") for name in ("q2", "q3", "q4")]
    assert findings[0].problem == "the corpus lacks 1 of 2 documents judged relevant: 'd8'"
    assert findings[1].problem.endswith("1 of 2 documents judged relevant: 'Nowhere'")
