"""Script models: valid script files, and the reply that each request gets."""

from __future__ import annotations

import asyncio
import gc
from contextvars import copy_context
from pathlib import Path

import pytest

from pytest_rageval.error_codes import KINDS
from pytest_rageval.errors import DataError, ModelError, RagEvalError
from pytest_rageval.llm.backends.prices import UNSET, Prices
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.llm.scripts.script_file import ERROR_KINDS, read_script
from pytest_rageval.llm.scripts.script_model import ScriptModel
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import ChatModel, Completion, Message, ToolCall


def script(folder: Path, text: str) -> ScriptModel:
    path = folder / "replies.toml"
    path.write_text(text, encoding="utf-8")
    return ScriptModel("script:replies.toml", read_script(path, "replies.toml"))


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def ask(model: ScriptModel, *messages: Message, meter: Meter | None = None) -> Completion:
    async def call() -> Completion:
        if meter is not None:
            SCOPE.set(Scope(meter))
        return await model.complete(messages)

    return copy_context().run(asyncio.run, call())


def test_the_first_reply_that_fits_wins(tmp_path: Path) -> None:
    model = script(tmp_path, '[[reply]]\nwhen = "Orsay"\ntext = "Paris"\n[[reply]]\ntext = "Rome"')
    assert isinstance(model, ChatModel)
    assert [ask(model, user(text)).text for text in ("Where is Orsay?", "Where is it?")] == ["Paris", "Rome"]
    reply = ask(model, user("Where?"))
    assert reply == Completion("Rome", Usage(cost_usd=0.0), "stop", "script:replies.toml")


def test_when_is_searched_in_the_last_message_of_the_user_or_a_tool(tmp_path: Path) -> None:
    model = script(tmp_path, '[[reply]]\nwhen = "Orsay"\ntext = "yes"\n[[reply]]\ntext = "no"')
    conversation = [user("Orsay?"), {"role": "assistant", "content": None, "tool_calls": []}]
    assert ask(model, *conversation).text == "yes"
    assert ask(model, *conversation, {"role": "tool", "tool_call_id": "c1", "content": "nothing"}).text == "no"
    assert ask(model, user("a"), {"role": "system", "content": "Orsay"}).text == "no"
    assert ask(model, {"role": "user", "content": [{"type": "text", "text": "Orsay"}]}).text == "yes"
    assert ask(model).text == "no"


NTH = '[[reply]]\nnth = 1\ntext = "first"\n[[reply]]\nnth = 3\ntext = "third"\n[[reply]]\ntext = "other"'


def test_nth_counts_the_requests_of_each_case(tmp_path: Path) -> None:
    model, one, other = script(tmp_path, NTH), Meter(), Meter()
    replies = [ask(model, user("a"), meter=meter).text for meter in (one, other, one, one, other, one)]
    assert replies == ["first", "first", "other", "third", "other", "other"]


def test_requests_outside_of_cases_are_counted_together(tmp_path: Path) -> None:
    model = script(tmp_path, NTH)
    assert [ask(model, user("a")).text for _ in range(4)] == ["first", "other", "third", "other"]


def test_concurrent_cases_count_their_requests_separately(tmp_path: Path) -> None:
    model = script(tmp_path, NTH)

    async def case() -> list[str]:
        SCOPE.set(Scope(Meter()))
        replies = []
        for _ in range(4):
            replies.append((await model.complete([user("a")])).text)
            await asyncio.sleep(0)
        return replies

    async def many() -> list[list[str]]:
        return await asyncio.gather(*(case() for _ in range(16)))

    assert asyncio.run(many()) == [["first", "other", "third", "other"]] * 16


def test_the_request_count_of_an_ended_case_is_freed(tmp_path: Path) -> None:
    model = script(tmp_path, NTH)
    for _ in range(3):
        ask(model, user("a"), meter=Meter())
    gc.collect()
    assert len(model._numbers) == 0


def test_a_reply_may_have_a_text_and_a_tool_call(tmp_path: Path) -> None:
    model = script(
        tmp_path,
        '[[reply]]\nnth = 1\ntext = "I look."\ntool = "search"\n'
        'arguments = { title = "Café", k = 3, deep = [1, { a = true }] }\n'
        '[[reply]]\nnth = 2\ntool = "search"\narguments = "{broken"\n'
        '[[reply]]\ntool = "stop"',
    )
    replies = [ask(model, user("a")) for _ in range(3)]
    assert [(reply.text, reply.finish_reason, reply.tool_calls) for reply in replies] == [
        (
            "I look.",
            "tool_calls",
            (ToolCall("call00001", "search", '{"title": "Café", "k": 3, "deep": [1, {"a": true}]}'),),
        ),
        ("", "tool_calls", (ToolCall("call00002", "search", "{broken"),)),
        ("", "tool_calls", (ToolCall("call00003", "stop", "{}"),)),
    ]


def test_a_reply_may_be_an_error(tmp_path: Path) -> None:
    model = script(tmp_path, '# errors\n[[reply]]\nraise = "context_length"')
    with pytest.raises(ModelError, match=r"^replies.toml:2 raises context_length$") as raised:
        ask(model, user("a"))
    assert raised.value.kind == "context_length"


def test_every_error_that_a_script_may_raise_has_a_code() -> None:
    assert set(ERROR_KINDS) <= set(KINDS)


def test_the_error_of_a_request_without_a_reply_shortens_a_long_message(tmp_path: Path) -> None:
    model = script(tmp_path, '[[reply]]\nwhen = "x"\ntext = "a"')
    with pytest.raises(ModelError) as raised:
        ask(model, user("begin " + "a\x1b" * 10_000 + " end"))
    assert raised.value.kind == "no_reply"
    message = str(raised.value)
    assert len(message) < 1_000
    start = "the last user message is 'begin a"
    assert message.startswith(f"script:replies.toml has no reply to request 1 of this case: {start}")
    assert " end'; add a [[reply]] that fits" in message
    assert message.isprintable()
    with pytest.raises(ModelError, match="it has no user or tool message"):
        ask(model, {"role": "system", "content": "a"})


def test_a_script_model_costs_nothing() -> None:
    prices = Prices("script:replies.toml")
    assert (prices.cost(10, 10), prices.max_cost(10, UNSET), prices.budget_problem("rag_model_params", "")) == (
        0.0,
        0.0,
        "",
    )


FAULTS = {
    'reply = "a"': "1: a script holds one or more [[reply]] tables; add one",
    "[reply]\ntext = 'a'": "1: a script holds one or more [[reply]] tables; add one",
    "[[replies]]\ntext = 'a'": "1: unknown key 'replies'; did you mean 'reply'?",
    "[[reply]]\ntext = 'a'\n\n[[reply]]\nwhen = 'x'": "4: a reply has none of text, tool and raise; give one",
    "[[reply]]\n": "1: a reply has none of text, tool and raise; give one",
    "[[reply]]\ntext = 'a'\nraise = 'timeout'": "1: a reply has raise and text or tool; an error has neither, "
    "remove one of them",
    "[[reply]]\ntext = 'a'\narguments = {}": "1: a reply has arguments and no tool; name the tool",
    "[[reply]]\ntext = 3": "2: text: found 3, wanted a string",
    "[[reply]]\ntext = 'a'\nwhen = ['x']": "3: when: found ['x'], wanted a string",
    "[[reply]]\ntext = 'a'\nnth = 0": "3: nth: found 0, wanted a whole number of 1 or more",
    "[[reply]]\ntext = 'a'\nnth = true": "3: nth: found True, wanted a whole number of 1 or more",
    "[[reply]]\ntool = ''": "2: tool: found '', wanted the name of a tool",
    "[[reply]]\ntool = 'a'\narguments = 3": "3: arguments: found 3, wanted a table of JSON values, or their text",
    "[[reply]]\ntool = 'a'\narguments = {a = nan}": "3: arguments: found {'a': nan}, wanted a table of JSON values, or "
    "their text",
    "[[reply]]\ntool = 'a'\n[reply.arguments]\nday = 2026-01-01": "3: arguments: found {'day': "
    "datetime.date(2026, 1, 1)}, wanted a table of JSON values, or their text",
    "[[reply]]\nraise = 'rate_limit'": "2: unknown error kind 'rate_limit'; did you mean 'rate_limited'?",
    "[[reply]]\ntext = 'a'\ntext = 'b'": "3: this is not valid TOML: Cannot overwrite a value (at line 3, column 11)",
}


@pytest.mark.parametrize("text", FAULTS)
def test_an_invalid_script_gives_one_sentence_with_the_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(RagEvalError) as raised:
        script(tmp_path, text)
    assert str(raised.value) == f"replies.toml:{FAULTS[text]}"


def test_an_unreadable_script_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "replies.toml").write_bytes(b"[[reply]]\ntext = '\xff'")
    with pytest.raises(DataError, match=r"^replies.toml:2: byte 0xff is not UTF-8; save it as UTF-8$"):
        read_script(tmp_path / "replies.toml", "replies.toml")
    with pytest.raises(DataError, match=r"^replies.toml: cannot be read: "):
        read_script(tmp_path, "replies.toml")
