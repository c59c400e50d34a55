"""Times of stages and queries, and facts about retrievers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_rageval.analysis.deployment import Stage, merge_facts, retrieval_stage_of_each, retrieval_stages, stages_of
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.facts import facts_of, retriever_of
from pytest_rageval.model.outcome import Outcome

near: Any = pytest.approx

MEASURED, REPLAYED = Usage(latency_s=1.0), Usage()


def outcome(name: str, *steps: Step, usage: Usage | None = MEASURED, system: str = "mine") -> Outcome:
    return Outcome(name, name, "t", {}, system, "scored", Answer("", trace=steps, usage=usage))


def step(kind: str, seconds: Any, **detail: Any) -> Step:
    return Step(kind, {"seconds": seconds, **detail})


def test_stages_are_listed_for_each_system_in_the_order_of_its_steps() -> None:
    outcomes = [
        outcome("q1", step("retrieve", 1.0), step("generate", 4.0)),
        outcome("q2", step("retrieve", 3.0), step("generate", 8.0)),
        outcome("q3", step("retrieve", 7.0), system="other"),
    ]
    assert stages_of(outcomes) == [
        Stage("mine", "retrieve", 2, 2.0, near(2.9)),
        Stage("mine", "generate", 2, 6.0, near(7.8)),
        Stage("other", "retrieve", 1, 7.0, 7.0),
    ]


def test_steps_of_one_kind_are_one_stage_of_an_answer() -> None:
    assert stages_of([outcome("q1", step("think", 1.0), step("retrieve", 1.0), step("think", 2.0))]) == [
        Stage("mine", "think", 1, 3.0, 3.0),
        Stage("mine", "retrieve", 1, 1.0, 1.0),
    ]


def test_steps_without_seconds_are_not_stages() -> None:
    unanswered = replace(outcome("q1"), answer=None)
    assert (
        stages_of([unanswered, outcome("q2", Step("retrieve"), step("retrieve", "long"), step("generate", None))]) == []
    )


def test_replayed_answers_have_only_retrieval_times() -> None:
    for usage in (REPLAYED, None):
        replayed = outcome("q1", step("retrieve", 1.0), step("generate", 0.0001), usage=usage)
        assert [stage.stage for stage in stages_of([replayed])] == ["retrieve"]


def test_queries_are_separate_for_each_named_retriever() -> None:
    outcomes = [
        outcome("q1", step("retrieve", 1.0, retriever="bm25"), step("generate", 1.0)),
        outcome("q2", step("retrieve", 3.0, retriever="bm25"), system="other"),
        outcome("q3", step("retrieve", 5.0, retriever="dense/hnsw")),
        outcome("q4", step("retrieve", 9.0)),
    ]
    assert retrieval_stages(outcomes) == {
        "bm25": Stage("bm25", "retrieve", 2, 2.0, near(2.9)),
        "dense/hnsw": Stage("dense/hnsw", "retrieve", 1, 5.0, 5.0),
    }


def test_the_highest_times_and_memory_of_all_processes_count() -> None:
    one = {"retriever": "bm25", "passages": 9, "build_s": 2.0, "load_s": None, "resident_bytes": 10, "disk_bytes": 7}
    two = {**one, "build_s": None, "load_s": 0.5, "resident_bytes": 30, "disk_bytes": None}
    both = {**one, "build_s": 2.0, "load_s": 0.5, "resident_bytes": 30}
    assert merge_facts(merge_facts([], one), two) == [both]
    assert merge_facts(merge_facts([], two), one) == [both]


def test_a_fact_that_no_process_knows_stays_unknown() -> None:
    facts = {"retriever": "bm25", "build_s": None}
    assert merge_facts([facts], facts) == [facts]


@pytest.mark.parametrize(
    "other", [{"retriever": "dense"}, {"index": "hnsw"}, {"passages": 10}, {"model": "b"}, {"m": 8}]
)
def test_other_retrievers_are_listed_separately(other: dict[str, Any]) -> None:
    facts = {"retriever": "bm25", "passages": 9}
    assert merge_facts([facts], {**facts, **other}) == [facts, {**facts, **other}]


def test_measured_facts_do_not_distinguish_retrievers() -> None:
    one = {"retriever": "hybrid", "dense.m": 16, "dense.recall@10": 0.9, "dense.build_s": 3.0, "bm25.load_s": None}
    two = {**one, "dense.build_s": None, "bm25.load_s": 2.0, "bm25.resident_bytes": 5}
    both = {**two, "dense.build_s": 3.0}
    assert merge_facts(merge_facts([], one), two) == [both]
    assert merge_facts([one], {**one, "dense.recall@10": 0.8}) == [{**one, "dense.recall@10": 0.8}]


def test_queries_of_a_name_of_several_retrievers_belong_to_none_of_them() -> None:
    stage = Stage("bm25", "retrieve", 2, 1.0, 1.0)
    bm25, other = {"retriever": "bm25"}, {"retriever": "dense"}
    assert retrieval_stage_of_each([bm25, other], {"bm25": stage}) == [stage, None]
    assert retrieval_stage_of_each([bm25, {**bm25, "k1": 1}], {"bm25": stage}) == [None, None]


def test_a_retriever_is_called_by_its_name_and_index() -> None:
    assert retriever_of({"retriever": "dense", "index": "hnsw"}) == "dense/hnsw"
    assert retriever_of({"retriever": "bm25", "index": None}) == "bm25"
    assert retriever_of({}) == ""


def test_facts_are_a_mapping_or_none() -> None:
    class Facts:
        facts: Any = 5

    assert facts_of(Facts()) == facts_of(None) == {}
    Facts.facts = {"retriever": "bm25"}
    assert facts_of(Facts()) == {"retriever": "bm25"}
