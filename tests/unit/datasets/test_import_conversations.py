"""Earlier turns of conversations: what is read, and what is counted as left."""

from __future__ import annotations

import json

import pytest

from pytest_rageval.datasets.imports.conversations import conversation_of
from pytest_rageval.datasets.source import JsonObject

HI: JsonObject = {"question": "hi", "answer": "hello"}
USER: JsonObject = {"role": "user", "content": "hi"}
BOT: JsonObject = {"role": "assistant", "content": "hello"}
IMAGE: JsonObject = {"type": "image_url", "image_url": {"url": "https://ferry.example/a.png"}}


@pytest.mark.parametrize(
    ("value", "turns", "left"),
    [
        ([["user", "hi"], ["assistant", "hello"]], [HI], {}),
        ([["system", "Be brief."], ["Human", "hi"], ["AI", "hello"]], [HI], {"system messages": 1}),
        ([("human", "hi"), ("bot", "hello")], [HI], {}),
        ('[["user", "hi"], ["assistant", "hello"]]', [HI], {}),
        ([["assistant", "hello"]], [], {"answers without a question": 1}),
        ([{"human": "hi", "ai": "hello"}], [HI], {}),
        ([{"user": "hi", "bot": "hello"}], [HI], {}),
        ([{"question": "hi"}], [{"question": "hi", "answer": ""}], {}),
        ([{**HI, "score": 1}], [HI], {"score": 1}),
        ([{"question": "hi", "answer": [{"type": "text", "text": "hello"}, IMAGE]}], [HI], {"answer.image_url": 1}),
    ],
)
def test_messages_are_parsed_by_their_role(value: object, turns: list[JsonObject], left: dict[str, int]) -> None:
    conversation = conversation_of(value)
    assert conversation is not None
    assert (conversation.turns, conversation.skipped) == (turns, left)


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


CALLS: JsonObject = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}


@pytest.mark.parametrize(
    ("messages", "turns", "asked", "left"),
    [
        ([{**USER, "name": "Ann"}, {**BOT, "weight": 0, "refusal": None}], [HI], "", {"name": 1, "weight": 1}),
        (
            [USER, CALLS, {"role": "tool", "content": "[]", "tool_call_id": "1"}, BOT],
            [HI],
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
            [USER, {**BOT, "content": " "}, USER, BOT],
            [{**HI, "answer": ""}, HI],
            "",
            {"assistant messages without text": 1},
        ),
        (
            [USER, {"role": "user", "content": None}, BOT],
            [{**HI, "answer": ""}],
            "",
            {"user messages without text": 1, "answers without a question": 1},
        ),
        (
            [{**USER, "content": [{"type": "text", "text": "hi"}, IMAGE, IMAGE]}, BOT],
            [HI],
            "",
            {"content.image_url": 2},
        ),
        ([{**USER, "content": ["hi", {"kind": "?"}]}, BOT], [HI], "", {"content.part": 1}),
        (
            [{"role": "user", "content": [IMAGE]}],
            [],
            "",
            {"content.image_url": 1, "user messages without text": 1},
        ),
        ([{**USER, "type": "message"}, BOT], [HI], "", {}),
    ],
)
def test_other_parts_of_a_message_are_counted(
    messages: list[JsonObject], turns: list[JsonObject], asked: str, left: dict[str, int]
) -> None:
    for value in (messages, json.dumps(messages)):
        conversation = conversation_of(value)
        assert conversation is not None
        assert (conversation.turns, conversation.open_question, conversation.skipped) == (turns, asked, left)
