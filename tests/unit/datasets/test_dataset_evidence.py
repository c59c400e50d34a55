"""Evidence in the records of a dataset."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets.jsonl import load
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.digests import case_digest
from pytest_rageval.model.evidence import EvidenceUnit, LocatedEvidence

RECORD = {"id": "q1", "question": "When?", "answers": ["9:00"]}
UNIT = {"page": "docs/visit.md", "quote": "opens at 9:00"}


def read(tmp_path: Path, evidence: object) -> Instance:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({**RECORD, "id": "q0"}) + "\n" + json.dumps({**RECORD, "evidence": evidence}))
    return load(path)[1]


def test_units_of_one_list_are_one_alternative(tmp_path: Path) -> None:
    units = [UNIT, {"page": 7, "span": [0, 12], "grade": 2}]
    assert read(tmp_path, units).evidence == (
        (EvidenceUnit("docs/visit.md", "opens at 9:00"), EvidenceUnit("7", span=(0, 12), grade=2)),
    )


def test_lists_of_units_are_alternatives(tmp_path: Path) -> None:
    evidence = read(tmp_path, [[UNIT], [UNIT, UNIT | {"grade": 3}]]).evidence
    unit = EvidenceUnit("docs/visit.md", "opens at 9:00")
    assert evidence == ((unit,), (unit, EvidenceUnit("docs/visit.md", "opens at 9:00", grade=3)))


def test_an_empty_list_is_no_evidence(tmp_path: Path) -> None:
    assert read(tmp_path, []).evidence == ()


@pytest.mark.parametrize(
    ("evidence", "problem"),
    [
        (
            [{"quote": "opens"}],
            "the field evidence[0].page is missing, wanted an integer or a string that is not empty",
        ),
        ([UNIT | {"span": [0, 3]}], "evidence[0]: found both quote and span, wanted one of them"),
        ([{"page": "a"}], "evidence[0]: found neither quote nor span, wanted one of them"),
        ([[UNIT], [UNIT | {"quote": " "}]], "evidence[1][0].quote: found ' ', wanted a string that is not empty"),
        ([{"page": "a", "span": [5, 5]}], "evidence[0].span: found [5, 5], wanted [start, end] in code points"),
        ([{"page": "a", "span": [-1, 5]}], "evidence[0].span: found [-1, 5], wanted [start, end] in code points"),
        ([{"page": "a", "span": [1]}], "evidence[0].span: found [1], wanted [start, end] in code points"),
        ([{"page": "a", "span": [True, 2]}], "evidence[0].span: found [True, 2], wanted [start, end]"),
        ([{"page": "a", "span": "0-3"}], "evidence[0].span: found '0-3', wanted [start, end] in code points"),
        ([UNIT | {"grade": 0}], "evidence[0].grade: found 0, wanted an integer of at least 1"),
        ([UNIT | {"grade": -1}], "evidence[0].grade: found -1, wanted an integer of at least 1"),
        ([UNIT | {"grade": 1.5}], "evidence[0].grade: found 1.5, wanted an integer of at least 1"),
        ([UNIT | {"grade": True}], "evidence[0].grade: found true, wanted an integer of at least 1"),
        ([UNIT | {"grade": "high"}], "evidence[0].grade: found 'high', wanted an integer of at least 1"),
        ([UNIT | {"text": "x"}], "unknown key 'text' in evidence[0]; known: grade, page, quote, span"),
        ([[UNIT], UNIT], "evidence[1]: found an object, wanted a list of at least one unit"),
        ([[UNIT], []], "evidence[1]: found an array of 0, wanted a list of at least one unit"),
        (["opens"], "evidence[0]: found 'opens', wanted an object with page and quote or span"),
        ({"page": "a"}, "evidence: found an object, wanted a list of objects with page and quote or span"),
    ],
)
def test_a_malformed_unit_is_refused_with_its_line(tmp_path: Path, evidence: object, problem: str) -> None:
    with pytest.raises(DataError) as error:
        read(tmp_path, evidence)
    assert error.value.where.endswith("cases.jsonl:2")
    assert error.value.problem.startswith(problem)


def test_the_digest_of_a_case_covers_its_evidence_but_not_the_located_places(tmp_path: Path) -> None:
    case = Case("q1", read(tmp_path, [UNIT]), None, {})
    located = LocatedEvidence({}, {}, lambda name: True)
    assert case_digest(case) == case_digest(Case("q1", case.instance, None, {}, located=located))
    assert case_digest(case) != case_digest(Case("q1", read(tmp_path, [UNIT | {"grade": 2}]), None, {}))


def test_the_digest_of_a_case_without_evidence_is_stable() -> None:
    instance = Instance("q1", "When?", (("9:00",),), qrels={"d#1": 1})
    assert case_digest(Case("q1", instance, None, {})) == "448bc0ccbb97934f"
