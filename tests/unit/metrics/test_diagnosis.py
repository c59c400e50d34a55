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
    """Return a search that found one text, by its id if it has one."""
    if doc_id:
        return Step("tool", {"name": "Search", "passages": [{"id": doc_id, "text": text}]})
    return Step("tool", {"name": "Search", "arguments": {"title": "x"}, "result": text})


def ended(reason: str) -> Step:
    return Step(END, {"reason": reason})


def of(case: Case, text: str, *trace: Step, right: float | None = None, **answer: Any) -> Diagnosis:
    """Return the diagnosis by hotpot_f1 >= 0.5, or by a given value."""
    said = Answer(text, trace=trace, **answer)
    score = hotpot_f1(Sample(case, said)) if right is None else Score(right)
    diagnosis = diagnose(case, said, score)
    assert isinstance(diagnosis, Diagnosis)
    return diagnosis


def reason(case: Case, answer: Answer, score: Score | None = None) -> str | None:
    found = diagnose(case, answer, score or Score(1.0))
    assert isinstance(found, Score)
    return found.reason


@pytest.mark.parametrize(
    ("gold", "text", "trace", "record", "ours", "published"),
    [
        ("9:00", "At 9:00.", [search("opens at 9:00")], {}, "EM", "EM"),
        ("9:00", "At 9:00.", [search("Parking is free")], {}, "AM", "EM"),
        ("9:00", "10:00", [search("opens at 9:00")], {}, "GE", "GE"),
        ("9:00", "10:00", [search("opens at 19:00")], {}, "RE", "GE"),
        ("gold", "silver", [search("a golden ring")], {}, "RE", "GE"),
        ("70", "12", [search("170 seats"), *[MISSED] * 4, ended("step_limit")], {}, "TE", "GE"),
        ("Rome", "", [*[GOOD] * 5, ended("step_limit")], {}, "RE", "TE"),
        ("Rome", "", [ended("context_limit")], {}, "ME", "TE"),
        ("Rome", "", [Step("program", {"error": "NameError: x"}), ended("program_error")], {}, "TE", "TE"),
        ("yes", "yes", [search("It has.")], {}, "A?", "EM"),
        ("yes", "yes", [search("It has.", "A"), search("It is.", "B")], {"provenance": (("A", "B"),)}, "EM", "EM"),
        ("yes", "no", [search("It has.", "A")], {"provenance": (("A", "B"),)}, "RE", "RE"),
        ("SUPPORTS", "REFUTES", [search("It has.")], {}, "W?", "RE"),
    ],
)
def test_the_types_of_answers(
    gold: str, text: str, trace: Sequence[Step], record: dict[str, Any], ours: str, published: str
) -> None:
    assert of(case(gold, **record), text, *trace).type == ours
    assert type_of_reval(gold, Answer(text, trace=tuple(trace))) == published


@pytest.mark.parametrize(
    ("text", "trace", "why"),
    [
        ("Lima", [search("in Rome")], "another answer, although the answer was retrieved"),
        ("", [search("in Rome"), ended("gave_up")], "gave_up, although the answer was retrieved"),
        ("Lima", [GOOD], "the answer was not retrieved, 1 tool call"),
        ("Lima", [Step("thought", {"text": "Lima"})], "nothing was retrieved"),
        ("", [GOOD, MISSED], "empty_answer after 2 tool calls, 1 failed"),
        ("", [GOOD, MISSED, ended("time_limit")], "time_limit after 2 tool calls, 1 failed"),
        ("", [*[MISSED] * 2, GOOD, ended("step_limit")], "2 of 3 tool calls failed: Search"),
        ("", [Step("program", {"error": "KeyError: 'Anna'"}), ended("program_error")], "program_error: KeyError"),
        ("", [ended("program_error")], "program_error"),
        ("", [GOOD, ended("no_action")], "no_action"),
        ("Li", [GOOD, Step("completion", {"finish_reason": "length"})], "completion cut by its length"),
        ("Lima", [Step("completion", {"finish_reason": "stop"})], "not known whether the answer was retrieved"),
    ],
)
def test_the_reason_of_a_wrong_answer(text: str, trace: Sequence[Step], why: str) -> None:
    assert of(case(), text, *trace).why == why


def test_the_reason_repeats_no_text_of_the_data() -> None:
    private = "Anna Maria Lind"
    invented = Step("tool", {"name": f"find {private}", "arguments": private, "invalid": True})
    failed = Step("tool", {"name": "Search", "arguments": private, "error": f"ValueError: {private}"})
    for trace in (
        (invented, failed, ended("step_limit")),
        (GOOD, ended(private)),
        (search(private), ended("step_limit")),
    ):
        diagnosis = of(case(private), "Lima", *trace)
        assert "Lind" not in f"{diagnosis.why} {diagnosis.end}"
    assert of(case(private), "Lima", invented, failed, ended("step_limit")).why.endswith(": no such tool, Search")


def test_the_models_own_words_are_not_evidence() -> None:
    own = [
        Step("thought", {"text": "It is Rome"}),
        Step("program", {"code": "answer = 'Rome'", "printed": "Rome", "value": "Rome"}),
        Step("completion", {"prompt": "Rome?", "text": "Rome"}),
        Step("tool", {"name": "Search", "arguments": "Rome", "error": "ValueError: Rome"}),
        Step("tool", {"name": "Rome", "invalid": True, "result": "There is no tool Rome"}),
    ]
    assert of(case(), "Rome", *own).grounded == "no"
    assert of(case(), "Rome", *own, search("in Rome")).grounded == "yes"


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
def test_where_the_answer_may_stand(step: Step) -> None:
    assert of(case(), "Rome", step).type == "EM"


def test_a_result_that_was_not_recorded_leaves_it_open() -> None:
    hidden = Step("tool", {"name": "Search", "arguments": {"title": "x"}})
    assert of(case(), "Rome", hidden).type == "A?"
    assert of(case(), "Lima", hidden).type == "W?"
    assert of(case(), "Lima", hidden, ended("step_limit")).type == "RE"
    assert of(case(), "Rome", hidden, GOOD).type == "AM", "one text was recorded"
    assert of(case(), "Rome", Step("completion", {})).type == "A?", "a model call does not show what was retrieved"


def test_rankings_and_supplied_passages_are_also_evidence() -> None:
    found = Ranking((ScoredPassage("a", 1.0, "in Rome"),))
    assert of(case(), "Rome", ranking=found).type == "EM"
    assert of(case(), "Lima", ranking=found).type == "GE"
    assert of(case(), "Rome", ranking=Ranking()).type == "AM"
    assert of(case(), "Rome", Step("retrieve", {"seconds": 0.1}), ranking=found).type == "EM"
    ids = Ranking((ScoredPassage("a"),))
    assert of(case(), "Rome", ranking=ids).type == "A?", "no text was recorded"
    assert of(case(qrels={"a": 1}), "Rome", ranking=ids).type == "EM"
    assert of(case(qrels={"b": 1, "c": 1}), "Rome", ranking=ids).type == "AM"
    supplied = replace(case(), supplied=(Passage("p0", "in Rome"),))
    assert of(supplied, "Lima").type == "GE"


def test_evidence_counts_if_one_alternative_is_whole() -> None:
    one, two, other = (EvidenceUnit(page, quote) for page, quote in (
        ("A", "The museum opens at nine in summer"),
        ("B", "It is closed on all public holidays"),
        ("C", "A whole other proof of the same fact"),
    ))  # fmt: skip
    of_record = case("yes", evidence=((one, two), (other,)))
    first = search("The museum opens at nine in summer.", "A")
    assert of(of_record, "yes", first).type == "AM"
    assert of(of_record, "yes", first, search("It is closed on all public holidays.", "B")).type == "EM"
    assert of(of_record, "yes", search("A whole other proof of the same fact")).type == "EM"
    twice = search("It is closed on all public holidays.", "A")
    assert of(of_record, "yes", first, twice).type == "AM", "two texts of one page keep their page"


def test_labels_and_empty_gold_answers_are_not_searched() -> None:
    for gold in ("Yes.", "false", "NOT ENOUGH INFO", "是", "The", "..."):
        assert of(case(gold), gold, search(f"no {gold} yes"), right=1.0).grounded == "unknown", gold
    label = case("Professor", {"gold_kind": "label"})
    assert of(label, "Professor", search("a Professor")).type == "A?"
    both = Case("q", Instance("q", "?", (("yes", "Rome"),)), None, {})
    assert of(both, "Rome", search("in Rome")).type == "EM"


@pytest.mark.parametrize(
    ("text", "alias", "found"),
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
def test_an_alias_is_found_in_whole_words_only(text: str, alias: str, found: bool) -> None:
    assert contains_whole(text, alias) is found


def test_cases_without_a_type_have_a_reason() -> None:
    said = Answer("Rome", trace=(GOOD,))
    assert reason(case(facets={"ability": "noise_robustness"}), said) == "not_applicable: ability_testbed"
    assert reason(case(answerable=False), said) == "not_applicable: unanswerable"
    assert reason(Case("q", Instance("q", "?"), None, {}), said) == "not_applicable: no_gold"
    assert reason(case(), said, Score(reason="judge_unavailable")) == "not_applicable: unscored"
    for nothing in ((), (ended("finished"),), (ended("empty_answer"),)):
        assert reason(case(), Answer("Rome", trace=nothing)) == "not_applicable: no_trace"
    for outage in OUTAGES:
        assert reason(case(), Answer("", trace=(ended(outage),))) == f"not_applicable: {outage}"


def test_each_metric_of_the_family_counts_its_types() -> None:
    metrics = Catalog().metrics
    expected = {"EM": ["EM", "ACC"], "A?": ["A_unknown", "ACC"], "TE": ["TE", "WA"], "W?": ["W_unknown", "WA"]}
    for kind, ones in expected.items():
        diagnosis = Diagnosis(kind, kind in RIGHT, "no", "finished", "")  # type: ignore[arg-type]
        sample = Sample(case(), Answer("Rome"), inputs={"diagnosis": diagnosis})
        values = {word: metrics.get(f"diagnosis:{word}").compute(sample).value for word in TYPES}
        assert values == {word: float(word in ones) for word in TYPES}
    up = [word for word in TYPES if metrics.get(f"diagnosis:{word}").higher_is_better]
    assert up == ["EM", "AM", "ACC"]
    nothing = metrics.get("diagnosis:TE").compute(Sample(case(), Answer("Rome")))
    assert nothing == Score.not_applicable("no_correctness_metric")


@pytest.mark.parametrize("name", ["diagnosis:te", "diagnosis:TEE", "diagnosis", "diagnosis:", "diagnosis@TE"])
def test_an_unknown_type_is_refused_with_a_suggestion(name: str) -> None:
    with pytest.raises(SettingError, match=r"test_a.py:3: unknown metric .*; did you mean 'diagnosis:"):
        Catalog().metrics.get(name, "test_a.py:3")


def test_the_scratchpad_has_what_the_log_would_have() -> None:
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
def test_any_trace_has_one_type(trace: list[Step], gold: str, text: str, value: float) -> None:
    said = Answer(text, trace=tuple(trace))
    diagnosis = diagnose(case(gold), said, Score(value))
    if isinstance(diagnosis, Score):
        assert str(diagnosis.reason).startswith("not_applicable: ")
    else:
        assert diagnosis.type in (RIGHT if value >= 0.5 else WRONG)
        assert diagnosis.type in WORDS
        assert diagnosis.end in END_REASONS
        assert diagnosis.type not in ("RE", "TE") or diagnosis.grounded != "yes"
    assert type_of_reval(gold, said) in WORDS


@given(st.text(max_size=20), st.text(max_size=5))
def test_more_evidence_never_ungrounds(text: str, more: str) -> None:
    before = of(case(), "Lima", search(text))
    after = of(case(), "Lima", search(text), search(more), search("in Rome"))
    assert after.grounded == "yes"
    assert before.type in ("GE", "RE", "W?")


def test_limits_are_decided_by_the_calls() -> None:
    for limit in LIMITS:
        kind = of(case(), "", GOOD, MISSED, MISSED, ended(limit)).type
        assert kind == ("ME" if limit == "context_limit" else "TE")
        assert of(case(), "", GOOD, MISSED, ended(limit)).type == ("ME" if limit == "context_limit" else "RE")
