from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError
from pytest_rageval.metrics.answers.kilt import hotpot_f1
from pytest_rageval.metrics.diagnosis.diagnose import RIGHT, WORDS, WRONG, diagnose
from pytest_rageval.metrics.diagnosis.family import TYPES
from pytest_rageval.metrics.diagnosis.reval_type import scratchpad_of, type_of_reval
from pytest_rageval.metrics.shared.whole_words import contains_whole
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Case, Instance, Passage
from pytest_rageval.model.evidence import EvidenceUnit
from pytest_rageval.model.outcome import Diagnosis, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample
from pytest_rageval.trace.steps import END, END_REASONS, LIMITS, OUTAGES

MISSED = Step("tool", {"name": "Search", "arguments": {"title": "x"}, "result": "No results.", "found": False})
GOOD = Step("tool", {"name": "Search", "arguments": {"title": "x"}, "result": "Nothing about it."})


def case(gold: str = "Rome", facets: dict[str, str] | None = None, **record: Any) -> Case:
    return Case("q1", Instance("q1", "A question?", ((gold,),), **record), None, facets or {})


def search(text: str, doc_id: str = "") -> Step:
    """Return a search step with one text as its result, or one passage if it has an id."""
    if doc_id:
        return Step("tool", {"name": "Search", "passages": [{"id": doc_id, "text": text}]})
    return Step("tool", {"name": "Search", "arguments": {"title": "x"}, "result": text})


def end_step(reason: str) -> Step:
    return Step(END, {"reason": reason})


def classify(case: Case, text: str, *trace: Step, right: float | None = None, **fields: Any) -> Diagnosis:
    """Return the diagnosis by hotpot_f1 >= 0.5, or by a given value."""
    answer = Answer(text, trace=trace, **fields)
    score = hotpot_f1(Sample(case, answer)) if right is None else Score(right)
    diagnosis = diagnose(case, answer, score)
    assert isinstance(diagnosis, Diagnosis)
    return diagnosis


def reason(case: Case, answer: Answer, score: Score | None = None) -> str | None:
    result = diagnose(case, answer, score or Score(1.0))
    assert isinstance(result, Score)
    return result.reason


@pytest.mark.parametrize(
    ("gold", "text", "trace", "record", "ours", "published"),
    [
        ("9:00", "At 9:00.", [search("opens at 9:00")], {}, "EM", "EM"),
        ("9:00", "At 9:00.", [search("Parking is free")], {}, "AM", "EM"),
        ("9:00", "10:00", [search("opens at 9:00")], {}, "GE", "GE"),
        ("9:00", "10:00", [search("opens at 19:00")], {}, "RE", "GE"),
        ("gold", "silver", [search("a golden ring")], {}, "RE", "GE"),
        ("70", "12", [search("170 seats"), *[MISSED] * 4, end_step("step_limit")], {}, "TE", "GE"),
        ("Rome", "", [*[GOOD] * 5, end_step("step_limit")], {}, "RE", "TE"),
        ("Rome", "", [end_step("context_limit")], {}, "ME", "TE"),
        ("Rome", "", [Step("program", {"error": "NameError: x"}), end_step("program_error")], {}, "TE", "TE"),
        ("yes", "yes", [search("It has.")], {}, "A?", "EM"),
        ("yes", "yes", [search("It has.", "A"), search("It is.", "B")], {"provenance": (("A", "B"),)}, "EM", "EM"),
        ("yes", "no", [search("It has.", "A")], {"provenance": (("A", "B"),)}, "RE", "RE"),
        ("SUPPORTS", "REFUTES", [search("It has.")], {}, "W?", "RE"),
    ],
)
def test_an_answer_has_our_type_and_the_published_type(
    gold: str, text: str, trace: Sequence[Step], record: dict[str, Any], ours: str, published: str
) -> None:
    assert classify(case(gold, **record), text, *trace).type == ours
    assert type_of_reval(gold, Answer(text, trace=tuple(trace))) == published


@pytest.mark.parametrize(
    ("text", "trace", "why"),
    [
        ("Lima", [search("in Rome")], "another answer, although the answer was retrieved"),
        ("", [search("in Rome"), end_step("gave_up")], "gave_up, although the answer was retrieved"),
        ("Lima", [GOOD], "the answer was not retrieved, 1 tool call"),
        ("Lima", [Step("thought", {"text": "Lima"})], "nothing was retrieved"),
        ("", [GOOD, MISSED], "empty_answer after 2 tool calls, 1 failed"),
        ("", [GOOD, MISSED, end_step("time_limit")], "time_limit after 2 tool calls, 1 failed"),
        ("", [*[MISSED] * 2, GOOD, end_step("step_limit")], "2 of 3 tool calls failed: Search"),
        ("", [Step("program", {"error": "KeyError: 'Anna'"}), end_step("program_error")], "program_error: KeyError"),
        ("", [end_step("program_error")], "program_error"),
        ("", [GOOD, end_step("no_action")], "no_action"),
        ("Li", [GOOD, Step("completion", {"finish_reason": "length"})], "completion cut by its length"),
        ("Lima", [Step("completion", {"finish_reason": "stop"})], "not known whether the answer was retrieved"),
    ],
)
def test_a_wrong_answer_has_a_reason(text: str, trace: Sequence[Step], why: str) -> None:
    assert classify(case(), text, *trace).why == why


def test_the_reason_quotes_no_text_of_the_data() -> None:
    private = "Anna Maria Lind"
    unknown_tool = Step("tool", {"name": f"find {private}", "arguments": private, "invalid": True})
    failing_call = Step("tool", {"name": "Search", "arguments": private, "error": f"ValueError: {private}"})
    for trace in (
        (unknown_tool, failing_call, end_step("step_limit")),
        (GOOD, end_step(private)),
        (search(private), end_step("step_limit")),
    ):
        diagnosis = classify(case(private), "Lima", *trace)
        assert "Lind" not in f"{diagnosis.why} {diagnosis.end}"
    assert classify(case(private), "Lima", unknown_tool, failing_call, end_step("step_limit")).why.endswith(
        ": no such tool, Search"
    )


def test_text_that_the_model_wrote_is_not_evidence() -> None:
    model_steps = [
        Step("thought", {"text": "It is Rome"}),
        Step("program", {"code": "answer = 'Rome'", "printed": "Rome", "value": "Rome"}),
        Step("completion", {"prompt": "Rome?", "text": "Rome"}),
        Step("tool", {"name": "Search", "arguments": "Rome", "error": "ValueError: Rome"}),
        Step("tool", {"name": "Rome", "invalid": True, "result": "There is no tool Rome"}),
    ]
    assert classify(case(), "Rome", *model_steps).grounded == "no"
    assert classify(case(), "Rome", *model_steps, search("in Rome")).grounded == "yes"


@pytest.mark.parametrize(
    "step",
    [
        Step("retrieve", {"passages": [{"id": "a", "text": "in Rome"}]}),
        Step("retrieve", {"passages": [{"id": "a", "title": "Rome"}]}),
        Step("tool", {"name": "t", "result": {"rows": [{"city": "Rome"}]}}),
        Step("tool", {"name": "t", "result": '{"text": "a line\\nRome"}'}),
        Step("tool", {"name": "t", "result": ["x", "Rome"]}),
    ],
)
def test_the_answer_is_found_in_every_field_of_a_retrieved_result(step: Step) -> None:
    assert classify(case(), "Rome", step).type == "EM"


def test_the_type_is_unknown_if_no_retrieved_text_was_recorded() -> None:
    hidden = Step("tool", {"name": "Search", "arguments": {"title": "x"}})
    assert classify(case(), "Rome", hidden).type == "A?"
    assert classify(case(), "Lima", hidden).type == "W?"
    assert classify(case(), "Lima", hidden, end_step("step_limit")).type == "RE"
    assert classify(case(), "Rome", hidden, GOOD).type == "AM", "one text was recorded"
    assert classify(case(), "Rome", Step("completion", {})).type == "A?", (
        "a model call does not show what was retrieved"
    )


def test_rankings_and_supplied_passages_are_also_evidence() -> None:
    ranking = Ranking((ScoredPassage("a", 1.0, "in Rome"),))
    assert classify(case(), "Rome", ranking=ranking).type == "EM"
    assert classify(case(), "Lima", ranking=ranking).type == "GE"
    assert classify(case(), "Rome", ranking=Ranking()).type == "AM"
    assert classify(case(), "Rome", Step("retrieve", {"seconds": 0.1}), ranking=ranking).type == "EM"
    ids = Ranking((ScoredPassage("a"),))
    assert classify(case(), "Rome", ranking=ids).type == "A?", "no text was recorded"
    assert classify(case(qrels={"a": 1}), "Rome", ranking=ids).type == "EM"
    assert classify(case(qrels={"b": 1, "c": 1}), "Rome", ranking=ids).type == "AM"
    with_passage = replace(case(), supplied=(Passage("p0", "in Rome"),))
    assert classify(with_passage, "Lima").type == "GE"


def test_evidence_is_complete_if_every_quote_of_one_alternative_was_retrieved() -> None:
    one, two, other = (EvidenceUnit(page, quote) for page, quote in (
        ("A", "The museum opens at nine in summer"),
        ("B", "It is closed on all public holidays"),
        ("C", "A whole other proof of the same fact"),
    ))  # fmt: skip
    with_evidence = case("yes", evidence=((one, two), (other,)))
    first = search("The museum opens at nine in summer.", "A")
    assert classify(with_evidence, "yes", first).type == "AM"
    assert classify(with_evidence, "yes", first, search("It is closed on all public holidays.", "B")).type == "EM"
    assert classify(with_evidence, "yes", search("A whole other proof of the same fact")).type == "EM"
    wrong_page = search("It is closed on all public holidays.", "A")
    assert classify(with_evidence, "yes", first, wrong_page).type == "AM", "a quote counts only on its own page"


def test_labels_and_empty_gold_answers_are_not_searched() -> None:
    for gold in ("Yes.", "false", "NOT ENOUGH INFO", "是", "The", "..."):
        assert classify(case(gold), gold, search(f"no {gold} yes"), right=1.0).grounded == "unknown", gold
    label = case("Professor", {"gold_kind": "label"})
    assert classify(label, "Professor", search("a Professor")).type == "A?"
    two_slots = Case("q", Instance("q", "?", (("yes", "Rome"),)), None, {})
    assert classify(two_slots, "Rome", search("in Rome")).type == "EM"


@pytest.mark.parametrize(
    ("text", "alias", "expected"),
    [
        ("a golden ring", "gold", False),
        ("the gold.", "gold", True),
        ("marigold", "gold", False),
        ("golden, gold", "gold", True),
        ("Rome's walls", "Rome", True),
        ("art2", "art", True),
        ("在罗马市", "罗马", True),
        ("在Rome市", "Rome", True),
        ("Straße", "stra", False),
        ("170 seats", "70", False),
        ("opens at 19:00", "9:00", False),
        ("2 museums", "two", True),
        ("anything", "", False),
    ],
)
def test_an_alias_matches_whole_words_only(text: str, alias: str, expected: bool) -> None:
    assert contains_whole(text, alias) is expected


def test_cases_without_a_type_have_a_reason() -> None:
    answer = Answer("Rome", trace=(GOOD,))
    assert reason(case(facets={"ability": "noise_robustness"}), answer) == "not_applicable: ability_testbed"
    assert reason(case(answerable=False), answer) == "not_applicable: unanswerable"
    assert reason(Case("q", Instance("q", "?"), None, {}), answer) == "not_applicable: no_gold"
    assert reason(case(), answer, Score(reason="judge_unavailable")) == "not_applicable: unscored"
    for trace in ((), (end_step("finished"),), (end_step("empty_answer"),)):
        assert reason(case(), Answer("Rome", trace=trace)) == "not_applicable: no_trace"
    for outage in OUTAGES:
        assert reason(case(), Answer("", trace=(end_step(outage),))) == f"not_applicable: {outage}"


def test_each_diagnosis_metric_is_1_for_its_types_and_0_for_others() -> None:
    metrics = Catalog().metrics
    expected = {"EM": ["EM", "ACC"], "A?": ["A_unknown", "ACC"], "TE": ["TE", "WA"], "W?": ["W_unknown", "WA"]}
    for kind, ones in expected.items():
        diagnosis = Diagnosis(kind, kind in RIGHT, "no", "finished", "")  # type: ignore[arg-type]
        sample = Sample(case(), Answer("Rome"), inputs={"diagnosis": diagnosis})
        values = {word: metrics.get(f"diagnosis:{word}").compute(sample).value for word in TYPES}
        assert values == {word: float(word in ones) for word in TYPES}
    up = [word for word in TYPES if metrics.get(f"diagnosis:{word}").higher_is_better]
    assert up == ["EM", "AM", "ACC"]
    unscored = metrics.get("diagnosis:TE").compute(Sample(case(), Answer("Rome")))
    assert unscored == Score.not_applicable("no_correctness_metric")


@pytest.mark.parametrize("name", ["diagnosis:te", "diagnosis:TEE", "diagnosis", "diagnosis:", "diagnosis@TE"])
def test_an_unknown_type_is_refused_with_a_suggestion(name: str) -> None:
    with pytest.raises(SettingError, match=r"test_a.py:3: unknown metric .*; did you mean 'diagnosis:"):
        Catalog().metrics.get(name, "test_a.py:3")


def test_the_scratchpad_lists_thoughts_actions_and_observations() -> None:
    trace = (
        Step("thought", {"text": "Search it."}),
        Step("tool", {"name": "Search", "arguments": {"title": "Rome"}, "result": "A city."}),
        Step("retrieve", {"query": "Rome", "parent": 1, "passages": [{"id": "a", "text": "A city."}]}),
        Step("retrieve", {"query": "walls", "passages": [{"id": "b", "title": "Walls", "text": "Old."}]}),
        Step("completion", {"prompt": "not there"}),
        Step("tool", {"name": "Lookup", "arguments": "x", "error": "Gone"}),
    )
    assert scratchpad_of(Answer("Rome", trace=trace)).splitlines() == [
        "Thought 1: Search it.",
        "Action 1: Search[Rome]",
        "Observation 1: A city.",
        "Action 2: Retrieve[walls]",
        "Observation 2: Walls Old.",
        "Action 3: Lookup[x]",
        "Observation 3: Gone",
        "Action 4: Finish[Rome]",
    ]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["name", "result", "passages", "error", "invalid", "found", "reason", "finish_reason", "parent"])
STEPS = st.builds(
    Step,
    st.sampled_from(["retrieve", "tool", "completion", "thought", "program", "generate", "branch", "end", "mine"]),
    st.dictionaries(KEYS, PLAIN | st.sampled_from(END_REASONS), max_size=4),
)


@given(st.lists(STEPS, max_size=6), st.text(max_size=8), st.text(max_size=8), st.sampled_from([0.0, 0.4, 0.5, 1.0]))
def test_every_trace_has_a_known_type(trace: list[Step], gold: str, text: str, value: float) -> None:
    answer = Answer(text, trace=tuple(trace))
    diagnosis = diagnose(case(gold), answer, Score(value))
    if isinstance(diagnosis, Score):
        assert str(diagnosis.reason).startswith("not_applicable: ")
    else:
        assert diagnosis.type in (RIGHT if value >= 0.5 else WRONG)
        assert diagnosis.type in WORDS
        assert diagnosis.end in END_REASONS
        assert diagnosis.type not in ("RE", "TE") or diagnosis.grounded != "yes"
    assert type_of_reval(gold, answer) in WORDS


@given(st.text(max_size=20), st.text(max_size=5))
def test_an_answer_stays_grounded_when_evidence_is_added(text: str, more: str) -> None:
    before = classify(case(), "Lima", search(text))
    after = classify(case(), "Lima", search(text), search(more), search("in Rome"))
    assert after.grounded == "yes"
    assert before.type in ("GE", "RE", "W?")


def test_a_limit_is_a_tool_error_only_if_most_calls_failed() -> None:
    for limit in LIMITS:
        kind = classify(case(), "", GOOD, MISSED, MISSED, end_step(limit)).type
        assert kind == ("ME" if limit == "context_limit" else "TE")
        assert classify(case(), "", GOOD, MISSED, end_step(limit)).type == ("ME" if limit == "context_limit" else "RE")
