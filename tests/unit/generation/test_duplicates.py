"""Duplicates among all drafts, by the rules of `rageval lint`."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from pytest_rageval.generation.checks.stage import drop_duplicates, drop_with_dialogue
from pytest_rageval.generation.draft import Draft
from pytest_rageval.linting.linter import lint
from pytest_rageval.metrics.shared.similar_questions import all_near_pairs
from pytest_rageval.model.case import Instance, Passage, Turn

SOURCE = Passage("a", "text")


def draft(question: str, *history: str, **facets: str) -> Draft:
    turns = tuple(Turn(each, "x") for each in history)
    return Draft(question, (("x",),), "extractive_qa", "", "template", "p:1", (SOURCE,), history=turns, facets=facets)


@pytest.mark.parametrize(
    ("questions", "reasons"),
    [
        (["When does it open?", "when does IT open", "When does it close?"], ["", "duplicate", ""]),
        (["When does the museum open on weekdays?", "When does the museum open on week days?"], ["", "near_duplicate"]),
        (["Who had 12 seats in the town council?", "Who had 13 seats in the town council?"], ["", ""]),
        (["博物馆几点开门？", "博物馆几点开门", "博物馆几点关门？"], ["", "duplicate", ""]),
    ],
)
def test_the_earlier_draft_stays(questions: list[str], reasons: list[str]) -> None:
    assert [each.reason for each in drop_duplicates(list(map(draft, questions)))] == reasons


def test_turns_are_duplicates_only_of_turns_after_the_same_questions() -> None:
    drafts = [draft("And since when?", "Where does Ann work?"), draft("And since when?", "Where does Bo work?")]
    assert [each.reason for each in drop_duplicates(drafts)] == ["", ""]
    assert [each.reason for each in drop_duplicates([drafts[0], drafts[0]])] == ["", "duplicate"]
    assert drafts[0].id != drafts[1].id


def test_a_dropped_draft_does_not_drop_its_duplicates() -> None:
    dropped = draft("When does it open?").dropped("ambiguous")
    assert [each.reason for each in drop_duplicates([dropped, draft("When does it open?")])] == ["ambiguous", ""]


def test_a_conversation_is_dropped_whole() -> None:
    turns = [
        draft("Where?", dialogue="d", round="1"),
        draft("When?", "Where?", dialogue="d", round="2").dropped("language"),
    ]
    whole = drop_with_dialogue([*turns, draft("Why?", dialogue="e", round="1")])
    assert [each.reason for each in whole] == ["dialogue_dropped", "language", ""]
    assert whole[0].verdicts == {"dialogue_dropped": "language in round 2"}


@pytest.mark.parametrize("seed", range(2))
def test_lint_finds_no_near_duplicate_among_the_remaining_drafts(seed: int) -> None:
    generator = random.Random(seed)
    words = ["museum", "ferry", "library", "market", "harbour", "on weekdays", "in winter", "for children", "at night"]
    drafts = [
        draft(f"When does the {' '.join(generator.choices(words, k=4))} open for the {generator.choice(words)}?")
        for _ in range(800)
    ]
    remaining = [each for each in drop_duplicates(drafts) if each.state != "dropped"]
    assert 100 < len(remaining) < 780
    instances = [Instance(each.id, each.question, gold=each.gold) for each in remaining]
    assert [each for each in lint(instances) if "duplicate" in each.check] == []


def test_a_repeated_check_is_listed_once() -> None:
    passed = drop_duplicates([draft("When does it open?")])
    assert drop_duplicates(passed)[0].checks == ("duplicate", "near_duplicate")
    assert replace(passed[0], checks=()).id == passed[0].id


def test_no_near_duplicate_is_missed() -> None:
    """Compare with brute force over all pairs."""
    generator = random.Random(7)
    words = ["museum", "ferry", "library", "market", "harbour", "at night", "a", "12", "博物馆", "几点"]
    questions = ["".join(generator.choices(words, k=generator.randint(0, 5))) for _ in range(300)]
    dropped = {at for at, _ in all_near_pairs(questions)}
    unique_questions: list[str] = []
    for at, question in enumerate(questions):
        near = any(_jaccard(question, other) >= 0.8 for other in unique_questions)
        assert near == (at in dropped), question
        if not near:
            unique_questions.append(question)
    assert 50 < len(unique_questions) < 280


def _jaccard(one: str, other: str) -> float:
    shingles = [_shingles(one), _shingles(other)]
    numbers = [sorted(re.findall(r"\d+", each)) for each in (one, other)]
    if numbers[0] != numbers[1]:
        return 0.0
    return len(shingles[0] & shingles[1]) / len(shingles[0] | shingles[1])


def _shingles(question: str) -> set[str]:
    size = 2 if re.search(r"[\u4e00-\u9fff]", question) else 3
    return {question[at : at + size] for at in range(max(len(question) - size + 1, 1))}
