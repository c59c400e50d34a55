"""Attacks on judges: texts that try to change the verdict stay quoted in every prompt."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from support.samples.attack_texts import ATTACKS
from support.samples.judge_samples import sample

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.metrics import BUILTIN
from pytest_rageval.model.case import Passage, Turn
from pytest_rageval.model.chat import Message
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.registry import Registry
from pytest_rageval.testing import ScriptedLLM

METRICS: Registry[Metric] = Registry("metric", BUILTIN)
JUDGES = {
    metric.judge.name: metric.judge
    for metric in map(METRICS.get, sorted(BUILTIN))
    if isinstance(metric.judge, PromptedJudge)
}
LANGUAGES = ("en", "zh")
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def sample_with(text: str, language: str, *, everywhere: bool = False) -> Sample:
    """Return a sample that applies to every built-in judge, with ``text`` as its answer, or as all its texts."""
    other = text if everywhere else "Rome"
    passages = (Passage("p0", other, other if everywhere else "", role="counterfactual"),)
    history = (Turn(other, other),)
    result = sample(
        text, question=other, gold=((other,), ("in 12 years",)), supplied=passages, history=history, language=language
    )
    return replace(result, case=result.case.with_facets(numeric_gold="true", several_aspects="true"))


def unquoted_lines(messages: Sequence[Message]) -> list[str]:
    """Return the lines outside quotes, if every kind of line break ends a line."""
    text = "\n".join(message["content"] for message in messages)
    for mark in BREAKS:
        text = text.replace(mark, "\n")
    return [line for line in text.split("\n") if line and not line.startswith(">")]


def test_the_attacks_are_many_and_the_judges_complete() -> None:
    assert len(ATTACKS) > 50
    assert {"accuracy_judged", "completeness", "hallucination", "utilization", "numerical_accuracy"} < set(JUDGES)
    assert {"rejection_rate_judged", "error_detection_rate_judged"} < set(JUDGES)


@pytest.mark.parametrize("everywhere", [False, True], ids=["answer", "everywhere"])
@pytest.mark.parametrize("name", ATTACKS)
def test_every_line_of_an_attack_is_quoted(name: str, everywhere: bool) -> None:
    for judge in JUDGES.values():
        for language in LANGUAGES:
            clean = judge.messages(sample_with("Rome", language))
            attacked = judge.messages(sample_with(ATTACKS[name], language, everywhere=everywhere))
            assert unquoted_lines(attacked) == unquoted_lines(clean)
            assert attacked[0] == clean[0]
            assert [message["role"] for message in attacked] == ["system", "user"]
            assert "".join(message["content"] for message in attacked).encode("utf-8")


class Reader(ScriptedLLM):
    """A judge model that obeys text outside quotes and ignores text inside."""

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__(self._obey)
        self._labels = labels

    def _obey(self, messages: Sequence[Message]) -> str:
        lines = unquoted_lines(messages)
        orders = [label for label in self._labels if any(f"label: {label}" in line.lower() for line in lines)]
        return json.dumps({"reason": str(len(lines)), "label": (orders or self._labels)[0]})


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("judge", JUDGES.values(), ids=list(JUDGES))
def test_a_model_that_ignores_quoted_text_resists_all_attacks(judge: PromptedJudge, language: str) -> None:
    model = Reader(list(judge.labels or {}))
    unconditional = replace(judge, applies=lambda sample: None)

    def verdict_of(text: str) -> Verdict:
        return asyncio.run(unconditional.ask(sample_with(text, language), model))

    clean = verdict_of("Rome")
    for name, text in ATTACKS.items():
        assert verdict_of(text) == clean, name


@pytest.mark.parametrize("name", ATTACKS)
def test_a_manipulated_reply_is_quoted_in_the_second_request(name: str) -> None:
    """An invalid label may repeat text of the answer, and the second request quotes that label."""
    judge = JUDGES["accuracy_judged"]
    for language in LANGUAGES:
        model = ScriptedLLM([json.dumps({"label": ATTACKS[name]}), json.dumps({"label": ""})])
        asyncio.run(judge.ask(sample_with("Rome", language), model))
        plain = ScriptedLLM([json.dumps({"label": "Rome"}), json.dumps({"label": ""})])
        asyncio.run(judge.ask(sample_with("Rome", language), plain))
        assert unquoted_lines(model.requests[1].messages[3:]) == unquoted_lines(plain.requests[1].messages[3:])
