"""The agent ``dfsdt``: the order of its decisions, its prompts and the ends of a run."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from support.samples.tool_agent_runs import ToolAgentRun, calls, names, planned, play

from pytest_rageval.errors import CaseError, ModelError, SettingError
from pytest_rageval.model.case import Passage, Query, Turn
from pytest_rageval.model.chat import Completion
from pytest_rageval.systems.agents.dfsdt import workflow
from pytest_rageval.testing import ScriptedLLM

ORSAY, PARIS = ("search", '{"title": "Orsay"}'), ("search", '{"title": "Paris"}')


def finish(answer: str = "Paris") -> tuple[str, str]:
    return ("Finish", json.dumps({"return_type": "give_answer", "final_answer": answer}))


GIVE_UP = ("Finish", '{"return_type": "give_up_and_restart"}')

REPLIES: dict[str, Any] = {"t": calls(ORSAY), "f": calls(finish()), "g": calls(GIVE_UP), "n": "I think."}


def search_with(replies: str, **options: Any) -> ToolAgentRun:
    """Run with replies that are written as letters; one request more fails the test."""
    return play(workflow, [REPLIES[letter] for letter in replies.split()], **options)


def walk(run: ToolAgentRun) -> str:
    """Return the branches in order, each with the letter of its reply."""
    letters = {"answer": "f", "gave_up": "g"}
    branches, tools = [], {step.get("parent") for step in run.steps("tool")}
    for place, step in enumerate(run.answer.trace):
        if step.kind == "branch":
            letter = letters.get(str(step.detail["outcome"])) or ("t" if place in tools else "n")
            branches.append(f"{step.detail['path']} {letter}")
    return ", ".join(branches)


WALKS = {
    ("t f", ""): ("0 t, 0.0 f", "finished"),
    ("t g t f", ""): ("0 t, 0.0 g, 1 t, 1.0 f", "finished"),
    ("t t g t f", ""): ("0 t, 0.0 t, 0.0.0 g, 0.1 t, 0.1.0 f", "finished"),
    ("t t t g t f", ""): ("0 t, 0.0 t, 0.0.0 t, 0.0.0.0 g, 0.0.1 t, 0.0.1.0 f", "finished"),
    ("g", ""): ("0 g", "gave_up"),
    ("t g t g", ""): ("0 t, 0.0 g, 1 t, 1.0 g", "gave_up"),
    ("n n f", ""): ("0 n, 0.0 n, 0.0.0 f", "finished"),
    ("t t t t t t", "max_nodes=4"): ("0 t, 0.0 t, 0.1 t, 1 t, 1.0 t, 1.1 t", "step_limit"),
    ("t t t t f", "max_nodes=4"): ("0 t, 0.0 t, 0.1 t, 1 t, 1.0 f", "finished"),
    ("t f t f", "answers=2"): ("0 t, 0.0 f, 1 t, 1.0 f", "finished"),
    ("t t f", "width=1"): ("0 t, 0.0 t, 0.0.0 f", "finished"),
    ("t t t", "max_calls=3"): ("0 t, 0.0 t, 0.0.0 t", "call_limit"),
    ("t g t", "max_calls=3"): ("0 t, 0.0 g, 1 t", "gave_up"),
    ("t f t", "answers=2, max_calls=3"): ("0 t, 0.0 f, 1 t", "finished"),
}


@pytest.mark.parametrize(("replies", "options"), WALKS)
def test_the_search_visits_decisions_depth_first(replies: str, options: str) -> None:
    run = search_with(replies, **dict(option.split("=") for option in options.split(", ") if option))
    order, end = WALKS[replies, options]
    assert (walk(run), run.end) == (order, end)
    assert len(run.model.requests) == len(replies.split())
    assert run.answer.text == ("Paris" if end == "finished" else "")
    assert len(run.steps("tool")) == replies.count("t")


def test_two_answers_are_two_terminals_and_the_first_counts() -> None:
    run = play(workflow, [calls(finish("Paris")), calls(finish("Rome"))], answers="2")
    assert (walk(run), run.answer.text, run.end) == ("0 f", "Paris", "finished")
    run = play(workflow, [*(calls(each) for each in (ORSAY, finish("Paris"), PARIS, finish("Rome")))], answers="2")
    assert [step["outcome"] for step in run.steps("branch")] == ["open", "answer", "open", "answer"]
    assert run.answer.text == "Paris"


def test_the_first_branch_that_gave_up_is_named() -> None:
    run = search_with("t g t g")
    assert run.steps("end") == [{"reason": "gave_up", "detail": "branch 0.0 gave up"}]


def test_a_branch_has_a_path_a_depth_an_outcome_and_its_steps() -> None:
    run = play(workflow, [Completion("I look.", tool_calls=tuple(calls(ORSAY))), "Well.", calls(finish())])
    assert run.kinds == [
        "branch", "completion", "thought", "tool", "branch", "completion", "thought", "branch", "completion", "end"
    ]  # fmt: skip
    branches = [(step["path"], step["depth"], step["outcome"], step.get("parent")) for step in run.steps("branch")]
    assert branches == [("0", 3, "open", None), ("0.0", 4, "open", 0), ("0.0.0", 6, "answer", 4)]
    parents = [step.detail.get("parent") for step in run.answer.trace if step.kind in ("completion", "tool", "thought")]
    assert parents == [0, 0, 0, 4, 4, 7]


# Prompts of the model


def test_finish_is_offered_with_the_tools() -> None:
    run = search_with("f")
    tools: Any = run.model.requests[0].params["tools"]
    assert [each["function"]["name"] for each in tools] == ["search", "Finish"]
    assert tools[1]["function"]["parameters"]["properties"]["return_type"]["enum"] == [
        "give_answer", "give_up_and_restart"
    ]  # fmt: skip
    assert run.model.requests[0].params["tool_choice"] == "auto"


def test_the_request_for_a_second_decision_shows_the_first_one_and_its_results() -> None:
    replies = [calls(ORSAY, PARIS), calls(GIVE_UP), calls(PARIS), calls(finish())]
    run = play(workflow, replies)
    first, second, third, fourth = (request.messages for request in run.model.requests)
    assert third[: len(first)] == first
    (extra,) = third[len(first) :]
    assert extra["role"] == "user"
    assert extra["content"] == (
        "You have been here before, and these decisions did not lead to an answer:\n\n"
        '[1]\n> search({"title": "Orsay"})\n> Orsay is a museum in Paris.\n> search({"title": "Paris"})\n'
        "> Paris is in France.\n\n"
        "Decide differently this time: call another tool, or the same one with other arguments."
    )
    assert extra not in fourth
    assert [message["role"] for message in fourth] == ["system", "user", "assistant", "tool"]
    assert [message["role"] for message in second] == ["system", "user", "assistant", "tool", "tool"]


def test_a_branch_does_not_see_the_calls_of_another_branch() -> None:
    run = play(workflow, [calls(ORSAY), calls(GIVE_UP), calls(PARIS), calls(finish())])
    assert run.results() == ["> Paris is in France."]


def test_a_thought_is_followed_by_a_request_to_go_on() -> None:
    run = search_with("n f")
    assert [(message["role"], message["content"]) for message in run.model.requests[1].messages[2:]] == [
        ("assistant", "I think."),
        ("user", "Go on: call a tool, or call Finish."),
    ]
    run = play(workflow, ["Hm.", calls(GIVE_UP), calls(finish())])
    assert "[1]\n> Hm.\n\nDecide" in run.model.requests[2].messages[-1]["content"]


def test_supplied_passages_and_earlier_turns_come_first() -> None:
    query = Query("Where?", (Passage("p0", "Orsay is in Paris."),), (Turn("Who?", "Monet."),), language="zh")
    messages = play(workflow, [calls(finish())], query).model.requests[0].messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[-1]["content"] == "文档：\n\n[1]\n> Orsay is in Paris.\n\n问题：Where?"


# Finish and invalid calls


FINISH_HINT = "Call Finish with return_type give_answer and final_answer, or with return_type give_up_and_restart."


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("{}", "The call needs return_type."),
        ('{"return_type": "stop"}', 'return_type is "stop"'),
        ('{"return_type": "give_answer"}', "The call needs final_answer."),
        ("give_answer", "The arguments are not a JSON object."),
        ('{"final_answer": "Paris"}', "The call needs return_type."),
    ],
)
def test_finish_without_a_valid_return_type_is_a_turn_with_a_hint(arguments: str, problem: str) -> None:
    run = play(workflow, [calls(("Finish", arguments)), calls(finish())])
    (text,) = run.results()
    assert problem in text
    assert text.endswith(FINISH_HINT)
    assert [step["depth"] for step in run.steps("branch")] == [2, 4]
    assert (run.answer.text, run.end, run.steps("tool")) == ("Paris", "finished", [])


def test_an_unknown_tool_is_a_turn_with_an_error_as_result() -> None:
    run = play(workflow, [calls(("jump", "{}")), calls(finish())])
    assert run.results() == ["> There is no tool jump; there is only search."]
    assert names(run.steps("tool")) == ["jump"]
    assert run.steps("tool")[0]["invalid"] is True


def test_calls_before_finish_run_and_calls_after_it_do_not() -> None:
    run = play(workflow, [calls(ORSAY, finish(), PARIS)])
    assert [step["arguments"]["title"] for step in run.steps("tool")] == ["Orsay"]
    assert (run.answer.text, walk(run)) == ("Paris", "0 f")


def test_an_empty_final_answer_is_an_empty_answer() -> None:
    run = play(workflow, [calls(finish(" "))])
    assert (run.answer.text, run.end) == ("", "empty_answer")


# Requests that fail


TOO_LONG, FILTERED = ModelError("context_length", "too long"), ModelError("content_filter", "no")


@pytest.mark.parametrize("error", [TOO_LONG, FILTERED])
def test_a_request_that_is_too_long_or_filtered_is_a_dead_end(error: ModelError) -> None:
    run = play(workflow, [REPLIES["t"], error, REPLIES["f"]])
    branches = [(step["path"], step["depth"], step["outcome"]) for step in run.steps("branch")]
    assert branches == [("0", 2, "open"), ("0.0", 2, "dead_end"), ("0.1", 4, "answer")]
    assert len(run.model.requests[2].messages) == len(run.model.requests[1].messages)
    assert run.end == "finished"


def test_a_search_without_any_decision_ends_with_the_error_of_its_first_request() -> None:
    run = play(workflow, [TOO_LONG, TOO_LONG])
    assert (run.answer.text, run.end, len(run.model.requests)) == ("", "context_limit", 2)


def test_any_other_failed_request_is_the_error_of_the_case() -> None:
    with pytest.raises(ModelError, match="no"):
        play(workflow, [FILTERED])
    with pytest.raises(ModelError, match="gone"):
        play(workflow, [REPLIES["t"], ModelError("server_error", "gone")])


def test_at_the_time_limit_the_first_answer_counts() -> None:
    class Slow(ScriptedLLM):
        async def complete(self, messages: Any, **params: object) -> Completion:
            if len(self.requests) == 2:
                self._delay_s = 60.0
            return await super().complete(messages, **params)

    started = time.perf_counter()
    run = play(workflow, Slow([REPLIES[letter] for letter in "tft"]), answers="2", max_time="0.2")
    assert (run.answer.text, run.end) == ("Paris", "time_limit")
    assert time.perf_counter() - started < 5


# Options


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("width", "0", "width=0; write a whole number of 1 or more"),
        ("max_nodes", "0", "max_nodes=0; write a whole number of 1 or more"),
        ("max_calls", "-1", "max_calls=-1; write a whole number of 1 or more"),
        ("answers", "0", "answers=0; write a whole number of 1 or more"),
        ("max_steps", "5", "has max_steps; the limits of dfsdt are max_nodes and max_calls"),
        ("finish", "tool", "unknown option 'finish'"),
    ],
)
def test_an_invalid_option_is_reported_in_one_sentence(option: str, value: str, message: str) -> None:
    with pytest.raises(SettingError) as raised:
        play(workflow, [], **dict[str, Any]({option: value}))
    assert message in str(raised.value)


def test_an_environment_with_a_tool_finish_is_refused() -> None:
    def Finish(answer: str) -> str:  # noqa: N802
        return answer

    with pytest.raises(CaseError, match=r"^dfsdt: a call of Finish ends the run, and the environment has a tool"):
        play(workflow, [], tools=Finish)


def test_the_plan_is_the_first_request_and_at_most_its_calls() -> None:
    run = search_with("f")
    plan = planned(workflow)
    assert plan.params == run.model.requests[0].params
    assert [dict(message) for message in plan.messages] == list(run.model.requests[0].messages)
    assert (plan.calls, plan.exact) == (60, False)


def test_a_search_of_a_thousand_decisions_ends() -> None:
    run = play(workflow, "I think.", max_nodes="1000000", max_calls="1000", width="1")
    assert (run.end, len(run.model.requests)) == ("call_limit", 1000)
