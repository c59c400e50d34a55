from __future__ import annotations

import asyncio
import doctest
import subprocess
import sys
import threading

import pytest

from pytest_rageval import testing
from pytest_rageval.errors import ModelError, RagEvalError
from pytest_rageval.llm.backends import scripted
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import ChatModel, Completion, Message, ToolCall
from pytest_rageval.testing import Asked, ScriptedLLM


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def say(llm: ScriptedLLM, *messages: Message, **params: object) -> str:
    return asyncio.run(llm.complete(messages, **params)).text


def test_the_example_in_the_docstring_works() -> None:
    result = doctest.testmod(scripted)
    assert result.attempted > 4
    assert result.failed == 0


def test_a_scripted_llm_is_a_chat_model() -> None:
    assert isinstance(ScriptedLLM("yes"), ChatModel)


def test_a_text_answers_everything() -> None:
    llm = ScriptedLLM("yes", usage=Usage(3, 1, 0.5))
    completions = [asyncio.run(llm.complete([user(text)])) for text in ("a", "b")]
    assert completions == [Completion("yes", Usage(3, 1, 0.5), "stop", "scripted")] * 2


def test_usage_is_unknown_by_default() -> None:
    assert asyncio.run(ScriptedLLM("yes").complete([user("a")])).usage == Usage()


def test_replies_of_a_list_come_in_order_and_a_request_too_many_is_an_error() -> None:
    llm = ScriptedLLM(["one", Completion("two", model="mine")])
    assert [say(llm, user("a")), say(llm, user("a"))] == ["one", "two"]
    with pytest.raises(RagEvalError, match=r"^the scripted model was asked 3 times and has only 2 replies; add more$"):
        say(llm, user("a"))
    assert len(llm.requests) == 3


def test_the_first_rule_found_in_the_last_question_gives_the_reply() -> None:
    llm = ScriptedLLM({"France": "Paris", "capital": "which one?"})
    assert (
        say(llm, user("the capital of Italy"), {"role": "assistant", "content": "Rome"}, user("of France?")) == "Paris"
    )
    assert say(llm, user("France"), {"role": "assistant", "content": "Paris"}, user("its capital?")) == "which one?"


def test_rules_are_searched_in_other_messages_if_none_matches_the_question() -> None:
    llm = ScriptedLLM({"": "?", "You judge": '{"label": "good"}'})
    assert say(llm, {"role": "system", "content": "You judge."}, user("Is it so?")) == '{"label": "good"}'


def test_a_question_without_a_matching_rule_is_an_error_that_names_it_and_the_rules() -> None:
    with pytest.raises(
        RagEvalError, match=r"^no scripted rule fits the question 'Who\?'; known: 'France' \(a rule und"
    ):
        say(ScriptedLLM({"France": "Paris"}), user("Who?"))


def test_a_function_receives_the_messages_and_returns_the_reply() -> None:
    llm = ScriptedLLM(lambda messages: messages[-1]["content"].upper())
    assert say(llm, user("who?")) == "WHO?"


@pytest.mark.parametrize("shape", ["one of a list", "a rule", "of a function"])
def test_an_exception_as_reply_is_raised(shape: str) -> None:
    error = ModelError("rate_limited", "slow down", retry_after=2.0)
    replies: dict[str, ScriptedLLM] = {
        "one of a list": ScriptedLLM([error]),
        "a rule": ScriptedLLM({"": error}),
        "of a function": ScriptedLLM(lambda messages: error),
    }
    with pytest.raises(ModelError) as raised:
        say(replies[shape], user("a"))
    assert raised.value is error


def test_an_exception_raised_several_times_does_not_accumulate_tracebacks() -> None:
    llm, depths = ScriptedLLM({"": ValueError("no")}), set()
    for _ in range(5):
        with pytest.raises(ValueError, match="no") as raised:
            say(llm, user("a"))
        depths.add(len(raised.traceback))
    assert len(depths) == 1


def test_a_reply_of_an_unsupported_type_is_reported() -> None:
    llm = ScriptedLLM(lambda messages: 42)  # type: ignore[arg-type, return-value]
    with pytest.raises(RagEvalError, match=r"^a scripted reply is a str, .* or an exception, not 42$"):
        say(llm, user("a"))
    with pytest.raises(TypeError, match=r"^replies are a str, a sequence, a mapping or a function, not None$"):
        ScriptedLLM(None)  # type: ignore[arg-type]


def test_requests_are_recorded_unchanged() -> None:
    llm, messages = ScriptedLLM("yes"), [{"role": "user", "content": "before"}]
    say(llm, *messages, temperature=0, seed=7)
    messages[0]["content"] = "after"
    assert llm.requests == (Asked((user("before"),), {"temperature": 0, "seed": 7}),)


def test_concurrent_requests_wait_for_their_delay_at_the_same_time() -> None:
    async def many() -> float:
        loop = asyncio.get_running_loop()
        start = loop.time()
        await asyncio.gather(*(llm.complete([user("a")]) for _ in range(20)))
        return loop.time() - start

    llm = ScriptedLLM("yes", delay_s=0.05)
    assert 0.045 < asyncio.run(many()) < 0.5


def test_threads_that_share_a_scripted_model_get_each_reply_once() -> None:
    llm = ScriptedLLM([str(number) for number in range(400)])
    replies: list[str] = []

    def ask() -> None:
        async def several() -> list[Completion]:
            return await asyncio.gather(*(llm.complete([user("a")]) for _ in range(50)))

        replies.extend(completion.text for completion in asyncio.run(several()))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, replies)) == list(range(400))
    assert len(llm.requests) == 400


def test_a_scripted_model_needs_no_pytest() -> None:
    code = (
        "import sys; from pytest_rageval.testing import Asked, ScriptedLLM\n"
        "assert not {'pytest', '_pytest', 'litellm', 'httpx'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pytest_rageval_testing_lists_its_names() -> None:
    assert set(testing.__all__) <= set(dir(testing))
    with pytest.raises(AttributeError, match=r"^module 'pytest_rageval.testing' has no attribute 'ScriptedLM'$"):
        _ = testing.ScriptedLM


@pytest.mark.parametrize("calls", [ToolCall("c1", "search", "{}"), [ToolCall("c1", "search"), ToolCall("c2", "stop")]])
def test_a_reply_may_call_tools(calls: ToolCall | list[ToolCall]) -> None:
    reply = asyncio.run(ScriptedLLM([calls], usage=Usage(3, 1, 0.5)).complete([user("a")]))
    assert (reply.text, reply.finish_reason, reply.usage) == ("", "tool_calls", Usage(3, 1, 0.5))
    assert list(reply.tool_calls) == (calls if isinstance(calls, list) else [calls])


def test_a_rule_may_match_the_result_of_a_tool() -> None:
    llm = ScriptedLLM({"in Paris": "Paris", "Where": ToolCall("c1", "search")})
    conversation = [user("Where is Orsay?"), asyncio.run(llm.complete([user("Where is Orsay?")])).message]
    assert say(llm, *conversation, {"role": "tool", "tool_call_id": "c1", "content": "It is in Paris."}) == "Paris"


def test_an_empty_list_of_tool_calls_is_reported_as_invalid() -> None:
    with pytest.raises(RagEvalError, match=r"^a scripted reply is a str, .*, not \[\]$"):
        say(ScriptedLLM([[]]), user("a"))
