"""Lint checks of evidence: is it in the corpus?"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.samples.lint_samples import found_by, record

from pytest_rageval.model.evidence import EvidenceUnit

OPENS, CLOSES = EvidenceUnit("visit.md", "opens at 9:00"), EvidenceUnit("visit.md", "closes at 18:00")


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "visit.md").write_text("The museum OPENS\nat 9:00.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "visit.md"


def test_evidence_that_is_missing_in_the_corpus_is_found(corpus: str) -> None:
    records = [
        record(evidence=((OPENS,),)),
        record("q2", line=2, evidence=((OPENS, CLOSES),)),
        record("q3", line=3, evidence=((EvidenceUnit("shop.md", "9:00"),),)),
        record("q4", line=4, evidence=((EvidenceUnit("visit.md", span=(20, 99)),),)),
        record("q5", line=5, evidence=((CLOSES,), (OPENS,))),
    ]
    findings = found_by("evidence_not_in_corpus", *records, corpus=corpus)
    assert [(each.id, each.origin, each.severity) for each in findings] == [
        ("q2", "cases.jsonl:2", "error"),
        ("q3", "cases.jsonl:3", "error"),
        ("q4", "cases.jsonl:4", "error"),
        ("q5", "cases.jsonl:5", "warning"),
    ]
    assert [each.problem for each in findings] == [
        "the quote 'closes at 18:00' of its evidence is not in the document 'visit.md'",
        "the corpus has no document 'shop.md', the page of its evidence; its ids look like 'visit.md'",
        "the span [20, 99] of its evidence is outside the document 'visit.md', which has 25 code points; "
        "correct the span",
        "the quote 'closes at 18:00' of its evidence is not in the document 'visit.md'",
    ]


def test_evidence_is_checked_only_with_a_corpus() -> None:
    assert found_by("evidence_not_in_corpus", record(evidence=((CLOSES,),))) == []


def test_a_finding_shortens_a_long_quote(corpus: str) -> None:
    long = EvidenceUnit("visit.md", "It closes at 18:00. " * 20)
    [finding] = found_by("evidence_not_in_corpus", record(evidence=((long,),)), corpus=corpus)
    assert "'It closes at 18:00. It closes" in finding.problem
    assert len(finding.problem) < 200


def test_a_record_with_evidence_needs_no_qrels_and_ignores_them(corpus: str) -> None:
    with_evidence = [record(name, evidence=((OPENS,),), qrels={"gone#3": 1}) for name in ("q1", "q2", "q3")]
    assert found_by("missing_gold_id", *with_evidence, corpus=corpus) == []
    [finding] = found_by("missing_gold_id", *with_evidence, record("q4"), corpus=corpus)
    assert finding.id == "q4"
