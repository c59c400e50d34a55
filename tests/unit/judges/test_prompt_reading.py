"""Prompts of judges are read back into question, gold and answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.projects.judge_folders import answers

from pytest_rageval.errors import SettingError
from pytest_rageval.judges.prompt_reading import PromptReader
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.local_judges.features import JudgeInput
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGE, COMPLETENESS_JUDGE

READER = PromptReader(ACCURACY_JUDGE)
INPUT = JudgeInput("What does it cost?", (("9 euros", "nine euros"), ("daily",)), "9 euros,\n\nevery day", "en")


def as_in_prompt(text: str) -> str:
    """Return a text as it is in a prompt: without white space around it and at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def test_question_gold_and_answer_are_read_back() -> None:
    prompt = READER.read(ACCURACY_JUDGE.messages(INPUT.sample))
    assert prompt.language == "en"
    assert prompt.texts == {
        "question": "What does it cost?", "gold": "9 euros | nine euros\ndaily", "answer": "9 euros,\n\nevery day",
    }  # fmt: skip


@given(st.text(), st.text(), st.sampled_from(["en", "zh"]))
def test_no_text_looks_like_a_part_of_the_prompt(question: str, answer: str, language: str) -> None:
    judge_input = JudgeInput(question, (("gold",),), answer, language)
    prompt = READER.read(ACCURACY_JUDGE.messages(judge_input.sample))
    assert prompt.language == language
    assert prompt.texts["question"] == as_in_prompt(question.encode("utf-8", "backslashreplace").decode())
    assert prompt.texts["answer"] == as_in_prompt(answer.encode("utf-8", "backslashreplace").decode())


def test_a_prompt_in_the_other_order_reads_back_equal() -> None:
    swapped = ACCURACY_JUDGE.swapped
    assert swapped is not None
    for judge_input in answers(20):
        assert READER.read(swapped.messages(judge_input.sample)) == READER.read(
            ACCURACY_JUDGE.messages(judge_input.sample)
        )


MESSAGES: list[dict[str, Any]] = [dict(each) for each in ACCURACY_JUDGE.messages(INPUT.sample)]
SYSTEM, USER = MESSAGES
OTHER = PromptedJudge(
    "accuracy_judged", "Is it polite?", labels={"wrong": "no", "right": "yes"}, values={"wrong": 0, "right": 1}
)


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([], "wanted two messages, the prompt of accuracy_judged: system, then user"),
        ([USER], "wanted two messages"),
        ([SYSTEM, USER, {"role": "assistant", "content": "{}"}, USER], "wanted two messages"),
        ([{"role": "system", "content": "Be kind."}, USER], "is not the prompt of the judge accuracy_judged"),
        ([dict(COMPLETENESS_JUDGE.messages(INPUT.sample)[0]), USER], "is not the prompt of the judge"),
        ([dict(OTHER.messages(INPUT.sample)[0]), USER], "is not the prompt of the judge"),
        ([SYSTEM, {"role": "user", "content": [{"type": "text", "text": "?"}]}], "is not the prompt of the judge"),
        ([SYSTEM, {"role": "user", "content": "Is it right?"}], "the line 'Is it right?', which no judge's prompt has"),
        ([SYSTEM, {"role": "user", "content": "> quoted"}], "the line '> quoted', which no judge's prompt has"),
        ([SYSTEM, {"role": "user", "content": "Question:\n> Why?"}], "lacks the part gold"),
        ([SYSTEM, {"role": "user", "content": f"{USER['content']}\n\n{USER['content']}"}], "the line 'Question:'"),
    ],
)
def test_messages_that_are_not_the_prompt_are_refused(messages: list[Any], problem: str) -> None:
    with pytest.raises(SettingError, match=problem.replace("?", r"\?")):
        READER.read(messages)
