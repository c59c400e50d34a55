"""ReAct transcripts: their steps and the ends of their runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.model.answer import Step
from pytest_rageval.trace.scratchpad import read_transcript
from pytest_rageval.trace.steps import end_reason, has_failed

RUN = """
Thought 1: I should look
at the hours.
Action 1: Search[museum]
Observation 1: The museum opens at 9:00.

It is closed on Mondays.

Thought 2: Which museum?
Action 2: Lookup[west wing] on the page
Observation 2: No more results.
Thought 3: It is 9:00.
Action 3: Finish[9:00]
Observation 3: Answer is CORRECT
"""


def steps_of(text: str) -> list[tuple[str, dict[str, object]]]:
    return [(step.kind, dict(step.detail)) for step in read_transcript(text).steps]


def test_thoughts_and_calls_are_steps_but_finish_is_not() -> None:
    assert steps_of(RUN) == [
        ("thought", {"text": "I should look\nat the hours."}),
        (
            "tool",
            {
                "name": "Search",
                "arguments": "museum",
                "result": "The museum opens at 9:00.\n\nIt is closed on Mondays.",
            },
        ),
        ("thought", {"text": "Which museum?"}),
        (
            "tool",
            {"name": "Lookup", "arguments": "west wing", "trailing": "on the page", "result": "No more results."},
        ),
        ("thought", {"text": "It is 9:00."}),
    ]
    transcript = read_transcript(RUN)
    assert (transcript.rounds, transcript.is_labelled, transcript.is_finished) == (3, True, True)


INVALID = {"invalid": True}


@pytest.mark.parametrize(
    ("action", "observation", "detail"),
    [
        ("Search[x]", "Could not find x. Similar: ['y']", {"name": "Search", "arguments": "x", "found": False}),
        ("Jump[x]", "Invalid Action. Valid Actions are", {"name": "Jump", "arguments": "x", **INVALID}),
        ("Login", "Invalid action: login", {"name": "no_action", "arguments": "Login", **INVALID}),
        ("\n\nFinish[x]", "Invalid action", {"name": "no_action", "arguments": "Finish[x]", **INVALID}),
        ("Finish[x] now", "Invalid action", {"name": "Finish", "arguments": "x", "trailing": "now", **INVALID}),
        ("", "Hm.", {"name": "no_action", "arguments": "", **INVALID}),
    ],
)
def test_a_failed_or_invalid_call_is_marked(action: str, observation: str, detail: dict[str, object]) -> None:
    transcript = read_transcript(f"Action 1: {action}\nObservation 1: {observation}\n")
    assert transcript.steps == (Step("tool", detail | {"result": observation}),)
    assert has_failed(transcript.steps[0])
    assert not transcript.is_finished


@pytest.mark.parametrize("verdict", ["Answer is INCORRECT", "Answer is CORRECT", "Episode finished, reward = 1\n"])
def test_a_verdict_is_never_evidence(verdict: str) -> None:
    text = f"Action 1: Search[x]\nObservation 1: y\n{verdict}\nThe gold is Rome."
    assert steps_of(text) == [("tool", {"name": "Search", "arguments": "x", "result": "y"})]
    assert steps_of(f"Thought 1: x\nAction 1: Finish[x]\nObservation 1: {verdict}") == [("thought", {"text": "x"})]


def test_calls_without_a_result_and_results_without_a_call_are_steps() -> None:
    text = "Action 1: Search[x]\nAction 2: Search[y]\nThought 3: z\nObservation 3: found"
    assert steps_of(f"Before.\n{text}") == [
        ("thought", {"text": "Before."}),
        ("tool", {"name": "Search", "arguments": "x"}),
        ("tool", {"name": "Search", "arguments": "y"}),
        ("thought", {"text": "z"}),
        ("tool", {"name": "no_action", "arguments": "", "result": "found", "invalid": True}),
    ]


@pytest.mark.parametrize(
    ("text", "answer", "reason"),
    [
        (RUN, "9:00", "finished"),
        (RUN.replace("Finish[9:00]", "Finish[]"), "", "empty_answer"),
        (RUN.replace("Finish[9:00]", "Search[x]"), " ", "step_limit"),
        (RUN.replace("Finish[9:00]", "Search[x]"), "9:00", "finished"),
        ("Action 1: Search[x]\nObservation 1: Could not find that page, please try again.", "9:00", "tool_unavailable"),
    ],
)
def test_the_trace_ends_with_the_reason(text: str, answer: str, reason: str) -> None:
    trace = read_transcript(text).trace(answer)
    assert trace[-1].kind == "end"
    assert end_reason(trace) == reason


@given(
    st.text()
    | st.lists(st.sampled_from(["Thought 1:", "Action 2:", "Observation 1:", "Finish[", "\n", "x"])).map("".join)
)
def test_any_text_is_a_transcript(text: str) -> None:
    assert read_transcript(text).trace("")[-1].kind == "end"
