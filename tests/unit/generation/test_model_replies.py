"""Replies with drafts are parsed strictly: a broken item is lost, the others stay, and nothing is repaired."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.generation.model_drafts.replies import read_correction, read_inspection, read_items
from pytest_rageval.judges.replies import UnreadableReplyError

ONE, TWO, THREE = ({"question": f"q{number}", "evidence": [f"e{number}", "[{"]} for number in (1, 2, 3))
FLAT = {"question": "q", "evidence": ["e"]}
TURNS = {"turns": [{"question": "a"}, {"question": "b"}]}


def dump(*items: object) -> str:
    return json.dumps(items)


@pytest.mark.parametrize(
    "text",
    [
        dump(ONE, TWO),
        f"Here are [2] items:\n```json\n{dump(ONE, TWO)}\n```\nI hope {{this}} helps.",
        f"{dump(ONE, TWO)}\n\nOnce more: {dump(ONE, TWO)}",
        json.dumps([ONE, TWO], indent=4),
    ],
)
def test_an_array_is_found_in_prose_and_code_fences(text: str) -> None:
    read = read_items(text, "question")
    assert (list(read.items), read.broken) == ([ONE, TWO], 0)


@pytest.mark.parametrize("text", ["[]", "```json\n[ ]\n```", "None of them fits: []"])
def test_an_empty_array_has_no_items(text: str) -> None:
    assert read_items(text, "question").items == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the reply is empty"),
        ("I cannot.", "the reply holds no JSON array"),
        (json.dumps(FLAT), "the reply holds no JSON array"),
        ("[1, 2]", "the reply holds no JSON array"),
        (dump(ONE) + dump(TWO), "the reply holds two different JSON arrays"),
    ],
)
def test_a_reply_without_one_array_is_unreadable(text: str, problem: str) -> None:
    with pytest.raises(UnreadableReplyError, match=problem):
        read_items(text, "question")


BROKEN = [
    '{"question": "q2, "evidence": ["e2"]}',
    '{"question": "q2", "evidence": [}',
    '{"question": "q2", "question": "again"}',
    '{"question": NaN}',
    "{\"question\": 'q2'}",
    '{"question": "a "quoted" word", "x": [{"y": 1}, {"z": 2}]}',
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_item_is_lost_and_the_others_stay(broken: str) -> None:
    text = f"[{json.dumps(ONE)},\n {broken},\n {json.dumps(THREE)}]"
    read = read_items(text, "question")
    assert (list(read.items), read.broken) == ([ONE, THREE], 1)


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_items_at_both_ends_are_lost(broken: str) -> None:
    read = read_items(f"[{broken}, {json.dumps(TWO)}, {broken}]", "question")
    assert (list(read.items), read.broken) == ([TWO], 2)


def test_a_truncated_reply_keeps_its_complete_items() -> None:
    read = read_items(dump(ONE, TWO, THREE)[:-20], "question")
    assert (list(read.items), read.broken) == ([ONE, TWO], 1)


def test_turns_of_a_malformed_conversation_are_dropped() -> None:
    broken = '{"turns": [{"question": "a},{"question": "b"}, {"question": "c"}]}'
    read = read_items(f"[{broken}, {json.dumps(TURNS)}]", "turns")
    assert (list(read.items), read.broken) == ([TURNS], 1)


def test_an_item_that_is_not_an_object_is_malformed() -> None:
    read = read_items(json.dumps([ONE, "two", 3, None]), "question")
    assert (list(read.items), read.broken) == ([ONE], 3)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ITEMS = st.lists(st.fixed_dictionaries({"question": TEXTS, "evidence": st.lists(TEXTS)}), min_size=1)


@given(ITEMS, st.integers(0, 3) | st.none())
def test_any_items_read_back(items: list[dict[str, object]], indent: int | None) -> None:
    assert list(read_items(json.dumps(items, indent=indent), "question").items) == items
    assert list(read_items(json.dumps(items, ensure_ascii=False), "question").items) == items


@given(TEXTS)
def test_any_text_is_parsed_or_refused_as_unreadable(text: str) -> None:
    for reply in (text, f"[{text}", f'[{{"question": {text}', f'[{{"question": "{text}"}}, {text}]'):
        try:
            read = read_items(reply, "question")
        except UnreadableReplyError:
            continue
        assert all(isinstance(each, dict) for each in read.items)


def test_inspections_and_corrections_are_read() -> None:
    inspection = read_inspection('Sure:\n{"reason": "fine", "verdict": "keep"}')
    assert (inspection.verdict, inspection.reason, inspection.item) == ("keep", "fine", None)
    assert read_inspection(json.dumps({"verdict": "mend", "item": ONE})).item == ONE
    assert read_correction(json.dumps({"item": ONE})) == ONE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ('{"verdict": "Keep"}', 'no "verdict" that is one of keep, mend, drop'),
        ('{"verdict": 2}', 'no "verdict"'),
        ('{"verdict": "mend", "item": "later"}', '"item" is no JSON object'),
        ('{"verdict": "keep"} {"verdict": "drop"}', "two different"),
    ],
)
def test_unreadable_inspections_are_refused(text: str, problem: str) -> None:
    with pytest.raises(UnreadableReplyError, match=problem):
        read_inspection(text)


def test_a_correction_without_an_item_is_unreadable() -> None:
    with pytest.raises(UnreadableReplyError, match='no "item"'):
        read_correction(json.dumps(ONE))
