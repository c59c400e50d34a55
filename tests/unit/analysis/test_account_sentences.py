"""The sentences of an account."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.samples.measured_samples import measured

from pytest_rageval.analysis.account.causes import cause_of_miss, symptom_of, symptom_of_misses
from pytest_rageval.analysis.account.errors import error_findings
from pytest_rageval.analysis.account.finding import Finding
from pytest_rageval.analysis.account.losses import findings_of
from pytest_rageval.analysis.account.sentences import (
    change_sentence,
    miss_sentence,
    other_causes_text,
    p_text,
    two_values,
    where_text,
)
from pytest_rageval.analysis.baseline.multiplicity import holm_attainable
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.model.facets import place_text
from pytest_rageval.model.outcome import Outcome


def failed(number: int, message: str, kind: str = "timeout") -> Outcome:
    return Outcome(f"t.py::t[{number}]", str(number), "t.py::t", {}, "mine", "error", error=message, error_type=kind)


def test_a_change_is_one_sentence() -> None:
    sentence = change_sentence("task=qa ", "rouge_l", 0.351, 0.18, "57 of 77 broke", 0.0002, "answers shorter")
    assert sentence == "task=qa rouge_l 0.35 -> 0.18 (57 of 77 broke, p < 0.001), answers shorter"
    assert change_sentence("", "R@5", 1.0, 0.0, "8 of 8 broke", 0.0039) == "R@5 1.00 -> 0.00 (8 of 8 broke, p 0.0039)"


def test_a_missed_bound_is_one_sentence() -> None:
    gate = parse_gate("accuracy >= 50%")
    assert miss_sentence("", gate, 0.27, "22 of 30 missed", "abstained") == (
        "accuracy 0.27 < 0.50 (22 of 30 missed), abstained"
    )
    assert miss_sentence("", parse_gate("error_rate <= 0.01"), 0.02, "n 9") == "error_rate 0.02 > 0.01 (n 9)"


@pytest.mark.parametrize(
    ("values", "texts"),
    [((0.351, 0.18), ("0.35", "0.18")), ((0.7969, 0.8), ("0.797", "0.800")), ((0.5, 0.5), ("0.500000", "0.500000"))],
)
def test_two_values_never_look_alike_if_they_differ(values: tuple[float, float], texts: tuple[str, str]) -> None:
    assert two_values(*values) == texts


def test_small_p_values_are_shortened() -> None:
    assert [p_text(value) for value in (0.04, 0.00391, 0.001, 0.0009, 9.5e-153)] == [
        "p 0.04", "p 0.0039", "p 0.001", "p < 0.001", "p < 0.001",
    ]  # fmt: skip


def test_a_place_names_only_the_parts_that_are_set() -> None:
    assert where_text("", "", {}) == ""
    assert where_text("town", "react", {"task": "qa"}) == "town system=react task=qa "


def test_a_test_that_cannot_be_significant_does_not_raise_other_p_values() -> None:
    assert holm_attainable([0.02, 0.5, 1.0], [0.01, 0.5, 0.5], 0.05) == [0.02, 1.0, 1.0]
    assert holm_attainable([0.02, 0.03], [0.001, 0.001], 0.05) == [0.04, 0.04]
    assert holm_attainable([], [], 0.05) == []


def test_messages_that_differ_in_names_and_numbers_are_one_error() -> None:
    errors = [failed(n, f"model 'm{n}' took {n + 30} s\nmore") for n in range(5)] + [failed(9, "no key", "auth")]
    first, second = error_findings([*errors, Outcome("t.py::t[x]", "x", "t.py::t", {}, "mine", "scored")], texts=True)
    assert first.sentence == "error timeout: 5 of 7 cases, for instance: model 'm0' took 30 s"
    assert (first.command, len(first.cases), first.testbed) == ("pytest --rag-resume", 5, "t.py::t")
    assert (second.sentence, second.command) == ("error auth: 1 of 7 cases: no key", "")


def test_many_messages_of_a_kind_are_one_error_and_texts_can_be_left_out() -> None:
    words = ("one", "two", "three", "four")
    (only,) = error_findings([failed(n, word) for n, word in enumerate(words)], texts=True)
    assert only.sentence == "error timeout: 4 of 4 cases, for instance: one"
    (bare,) = error_findings([failed(n, word) for n, word in enumerate(words[:2])], texts=False)
    assert bare.sentence == "error timeout: 2 of 2 cases"


def test_the_advice_of_an_error_is_its_command_and_not_in_its_sentence() -> None:
    (only,) = error_findings(
        [failed(1, "no reply is recorded; record it with --rag-record-mode", "not_recorded")], texts=True
    )
    assert only.sentence == "error not_recorded: 1 of 1 case: no reply is recorded"
    assert only.command == "pytest --rag-record-mode new_episodes"


def test_symptoms_need_more_than_half_of_the_broken_cases() -> None:
    before = replace(measured("a", 1.0, evidence=1.0), length=100.0)
    short, declines = replace(before, length=75.0), replace(before, declined=1.0)
    without = replace(before, evidence=0.0)
    assert symptom_of("generation", [Pair(before, short)] * 2 + [Pair(before, before)]) == "answers shorter"
    assert symptom_of("generation", [Pair(before, short), Pair(before, before)]) == ""
    assert symptom_of("generation", [Pair(before, declines)]) == "abstained"
    assert symptom_of("generation", [Pair(replace(before, declined=1.0), declines)]) == ""
    assert symptom_of("retrieval", [Pair(before, without)]) == "passages missing"
    assert symptom_of("generation", [Pair(replace(before, length=None), short)]) == ""


def test_a_missed_case_without_a_baseline_has_a_cause_too() -> None:
    scored = Outcome("t.py::t[x]", "x", "t.py::t", {}, "mine", "scored")
    assert cause_of_miss(scored, "retrieval") == "retrieval"
    assert cause_of_miss(scored, "answer") == "unknown"
    assert cause_of_miss(replace(scored, evidence=0.5), "answer") == "retrieval"
    assert cause_of_miss(replace(scored, evidence=1.0), "answer") == "generation"
    assert cause_of_miss(replace(scored, answer_seen=0.0), "answer") == "retrieval"
    assert (
        cause_of_miss(replace(scored, evidence=0.0, facets={"ability": "negative_rejection"}), "answer") == "generation"
    )
    assert symptom_of_misses("generation", [replace(scored, declined=True)]) == "abstained"
    assert symptom_of_misses("retrieval", [replace(scored, evidence=0.0)]) == "passages missing"


def test_gates_that_cannot_be_decided_for_one_reason_are_one_finding() -> None:
    gates = ("R@5 >= baseline", "RR >= baseline")
    losses = [Finding("undecidable", f"gate {gate}", "nothing was scored", "t.py::t") for gate in gates]
    (finding,) = findings_of([*losses])
    assert finding.sentence == "gate R@5 >= baseline: nothing was scored"
    assert finding.also == ("gate RR >= baseline",)


def test_gates_that_lack_the_same_baseline_values_are_one_finding_without_places() -> None:
    gates = {"accuracy >= baseline": {"system": "new"}, "accuracy[topic=*] >= baseline": {"topic": "Fares"}}
    why = "not comparable, the baseline does not hold the system new of town{}: add it with --rag-update-baseline"
    losses = [
        Finding("undecidable", f"gate {gate}", why.format(f" at {place_text(place)}"), "t.py::t", slice=place)
        for gate, place in gates.items()
    ]
    (finding,) = findings_of(losses)
    assert finding.sentence == f"gate accuracy >= baseline: {why.format('')}"
    assert finding.also == ("gate accuracy[topic=*] >= baseline",)
    (alone,) = findings_of(losses[1:])
    assert alone.sentence.count(" at topic=Fares: ") == 1


def test_the_text_counts_the_cases_of_other_causes() -> None:
    assert other_causes_text({}) == ""
    assert other_causes_text({"generation": 2, "unknown": 1, "judge": 0}) == ", 2 by generation, 1 unknown"
