"""Records of smallest contexts: one for each different context."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_rageval.datasets.jsonl import load
from pytest_rageval.generation.shrinking.minimal_record import append_record, minimal_records
from pytest_rageval.generation.shrinking.shrink_result import ReducedPassage, ShrinkResult
from pytest_rageval.model.case import Case, Instance, Passage, Turn

P0, W0 = Passage("p0", "It opens at 9:00.", role="positive"), Passage("w0", "It opens at 10:00.", role="negative")
QUESTION = Instance(
    "q1", "When does it open?", gold=(("9:00",),), passages=(P0, W0), facets={"dialogue": "d", "round": "2"}
)
CASE = Case("q1", QUESTION, (P0, W0), QUESTION.facets)


def shrink_result(passage: Passage, *history: Turn) -> ShrinkResult:
    return ShrinkResult(
        2, (ReducedPassage(passage, (1,), 1),), True, (1, 1), (), (), False, (3, 3), 9, 0, history=history
    )


def test_different_contexts_of_a_case_become_different_records(tmp_path: Path) -> None:
    typo = CASE.with_facets(relation="typo", variant="1")
    results = [
        (CASE, shrink_result(W0)),
        (CASE, shrink_result(P0)),
        (CASE, shrink_result(W0)),
        (typo, shrink_result(W0)),
    ]
    records = minimal_records(results)
    assert [record["id"] for record in records] == ["q1-min", "q1-min-2", "q1-typo-1-min"]
    assert append_record(tmp_path / "shrunk.jsonl", records) == ["q1-min", "q1-min-2", "q1-typo-1-min"]
    assert [each.passages for each in load(tmp_path / "shrunk.jsonl")] == [(W0,), (P0,), (W0,)]


def test_a_turn_becomes_a_single_record_with_its_history(tmp_path: Path) -> None:
    (record,) = minimal_records([(CASE, shrink_result(W0, Turn("Where is it?", "In Oslo.")))])
    append_record(tmp_path / "shrunk.jsonl", [record])
    (instance,) = load(tmp_path / "shrunk.jsonl")
    assert instance.history == (Turn("Where is it?", "In Oslo."),)
    assert not {"dialogue", "round"} & instance.facets.keys()


def test_a_record_has_the_gold_and_the_false_answers_of_its_case(tmp_path: Path) -> None:
    record = replace(QUESTION, gold=(("9:00", "nine"), ("Monday",)), fake=(("10:00",),), answerable=True)
    append_record(tmp_path / "shrunk.jsonl", minimal_records([(replace(CASE, instance=record), shrink_result(W0))]))
    (instance,) = load(tmp_path / "shrunk.jsonl")
    assert (instance.gold, instance.fake, instance.answerable) == (record.gold, record.fake, True)
