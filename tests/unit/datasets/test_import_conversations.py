"""Earlier turns of imported conversations, and counts of skipped parts."""

from __future__ import annotations

import json

import pytest

from pytest_rageval.datasets.imports.conversations import conversation_of
from pytest_rageval.datasets.source import JsonObject

TURN: JsonObject = {"question": "hi", "answer": "hello"}
USER: JsonObject = {"role": "user", "content": "hi"}
ASSISTANT: JsonObject = {"role": "assistant", "content": "hello"}
IMAGE: JsonObject = {"type": "image_url", "image_url": {"url": "https://ferry.example/a.png"}}


@pytest.mark.parametrize(
    ("value", "turns", "skipped"),
    [
        ([["user", "hi"], ["assistant", "hello"]], [TURN], {}),
        ([["system", "Be brief."], ["Human", "hi"], ["AI", "hello"]], [TURN], {"system messages": 1}),
        ([("human", "hi"), ("bot", "hello")], [TURN], {}),
        ('[["user", "hi"], ["assistant", "hello"]]', [TURN], {}),
        ([["assistant", "hello"]], [], {"answers without a question": 1}),
        ([{"human": "hi", "ai": "hello"}], [TURN], {}),
        ([{"user": "hi", "bot": "hello"}], [TURN], {}),
        ([{"question": "hi"}], [{"question": "hi", "answer": ""}], {}),
        ([{**TURN, "score": 1}], [TURN], {"score": 1}),
        ([{"question": "hi", "answer": [{"type": "text", "text": "hello"}, IMAGE]}], [TURN], {"answer.image_url": 1}),
    ],
)
def test_messages_are_parsed_by_their_role(value: object, turns: list[JsonObject], skipped: dict[str, int]) -> None:
    conversation = conversation_of(value)
    assert conversation is not None
    assert (conversation.turns, conversation.skipped) == (turns, skipped)


@pytest.mark.parametrize(
    "value",
    [
        [["user", "hi"], ["Where?", "Here."]],
        [["user", "hi"], ["assistant", 7]],
        [{"human": "hi", "machine": "hello"}],
        [{"human": "hi"}, {"ai": "hello"}],
        [{"role": "user", "content": 7}],
        [{"role": "user", "content": ["hi", 7]}],
    ],
)
def test_an_ambiguous_conversation_is_not_parsed(value: object) -> None:
    assert conversation_of(value) is None


TOOL_CALL: JsonObject = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}


@pytest.mark.parametrize(
    ("messages", "turns", "open_question", "skipped"),
    [
        ([{**USER, "name": "Ann"}, {**ASSISTANT, "weight": 0, "refusal": None}], [TURN], "", {"name": 1, "weight": 1}),
        (
            [USER, TOOL_CALL, {"role": "tool", "content": "[]", "tool_call_id": "1"}, ASSISTANT],
            [TURN],
            "",
            {"assistant messages without text": 1, "tool_calls": 1, "tool messages": 1},
        ),
        (
            [USER, {"role": "assistant", "tool_calls": [1]}],
            [],
            "hi",
            {"assistant messages without text": 1, "tool_calls": 1},
        ),
        (
            [USER, {**ASSISTANT, "content": " "}, USER, ASSISTANT],
            [{**TURN, "answer": ""}, TURN],
            "",
            {"assistant messages without text": 1},
        ),
        (
            [USER, {"role": "user", "content": None}, ASSISTANT],
            [{**TURN, "answer": ""}],
            "",
            {"user messages without text": 1, "answers without a question": 1},
        ),
        (
            [{**USER, "content": [{"type": "text", "text": "hi"}, IMAGE, IMAGE]}, ASSISTANT],
            [TURN],
            "",
            {"content.image_url": 2},
        ),
        ([{**USER, "content": ["hi", {"kind": "?"}]}, ASSISTANT], [TURN], "", {"content.part": 1}),
        (
            [{"role": "user", "content": [IMAGE]}],
            [],
            "",
            {"content.image_url": 1, "user messages without text": 1},
        ),
        ([{**USER, "type": "message"}, ASSISTANT], [TURN], "", {}),
    ],
)
def test_other_parts_of_a_message_are_counted(
    messages: list[JsonObject], turns: list[JsonObject], open_question: str, skipped: dict[str, int]
) -> None:
    for value in (messages, json.dumps(messages)):
        conversation = conversation_of(value)
        assert conversation is not None
        assert (conversation.turns, conversation.open_question, conversation.skipped) == (turns, open_question, skipped)
