"""Lint checks of wording: yes/no bias, language, and names of topics."""

from __future__ import annotations

import pytest
from support.samples.lint_samples import found_by, record

from pytest_rageval.datasets.topics import TOPICS
from pytest_rageval.metrics.shared.yes_no import yes_or_no


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Yes", True), ("yes.", True), ("Yes, since 2015", True), ("True", True), ("是", True), ("是的，可以", True),
        ("可以。", True), ("No", False), ("NO!", False), ("no - it closed", False), ("不是", False), ("没有。", False),
        ("否", False), ("Norway", None), ("No. 7", None), ("No one", None), ("Yesterday", None), ("是李白", None),
        ("True Detective", None), ("有限公司", None), ("", None),
    ],
)  # fmt: skip
def test_yes_and_no_are_recognised(answer: str, expected: bool | None) -> None:
    assert yes_or_no(answer) is expected


@pytest.mark.parametrize(
    ("yes", "no", "is_biased"), [(9, 0, False), (10, 0, True), (8, 2, False), (9, 2, True), (1, 9, True)]
)
def test_a_yes_no_bias_is_found(yes: int, no: int, is_biased: bool) -> None:
    golds = ["Yes"] * yes + ["No, never"] * no + ["Paris"] * 20
    records = [record(f"q{n}", gold=((gold,),)) for n, gold in enumerate(golds)]
    findings = found_by("yes_no_bias", *records)
    assert bool(findings) is is_biased
    if is_biased:
        [finding] = findings
        word, count = ("yes", yes) if yes > no else ("no", no)
        assert (finding.severity, finding.id, finding.origin) == ("warning", "", "instances")
        assert finding.problem.startswith(f"{count} of {yes + no} yes/no questions have the gold {word}: ")


@pytest.mark.parametrize(
    ("language", "question", "wrong"),
    [
        ("en", "What does the sign 出口 say?", False),
        ("en", "这个博物馆几点开门？", True),
        ("zh", "When does the museum open?", True),
        ("zh", "GDP是什么？", False),
        ("zh", "2 + 2 = ?", False),
        ("fr", "Quand ouvre le musée ?", False),
    ],
)
def test_a_question_in_another_language_than_declared_is_found(language: str, question: str, wrong: bool) -> None:
    findings = found_by("language", record(question=question, language=language))
    assert [each.severity for each in findings] == ["warning"] * wrong


def test_several_languages_are_reported() -> None:
    records = [record(f"q{n}", language=language) for n, language in enumerate(("zh", "en", "fr", "zh"))]
    [finding] = found_by("language_mix", *records)
    assert finding.severity == "note"
    assert finding.problem == "the records are in 3 languages (2 zh, 1 en, 1 fr); slice by the facet language"
    assert found_by("language_mix", *records[1:2]) == []


def test_omnieval_has_sixteen_topics_under_five_headings() -> None:
    assert len(TOPICS) == 16
    for names in zip(*TOPICS, strict=True):
        assert len(set(names)) in (5, 16)


def test_an_unknown_topic_among_known_ones_is_a_note() -> None:
    known_topics = [record(topic.zh, facets={"topic": topic.zh, "task": "extractive_qa"}) for topic in TOPICS[:3]]
    unknown_topics = [record(f"q{n}", facets={"topic": "基金会", "task": "multi_hop"}, line=n) for n in (10, 9)]
    [finding] = found_by("stray_name", *known_topics, *unknown_topics)
    assert (finding.id, finding.severity, finding.origin) == ("q9", "note", "cases.jsonl:9")
    assert finding.problem == (
        "the topic '基金会' of 2 records (this is the first) is unknown to OmniEval, unlike most others; "
        "did you mean '基金'?"
    )


def test_a_custom_tree_may_have_any_names() -> None:
    records = [record(name, facets={"topic": name, "task": "extractive_qa"}) for name in ("Hours", "Prices", "Funds")]
    assert found_by("stray_name", *records) == []
