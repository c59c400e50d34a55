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
    """Return a sample that every built-in judge is asked about, with ``text`` as its answer, or as all its texts."""
    of = text if everywhere else "Rome"
    passages = (Passage("p0", of, of if everywhere else "", role="counterfactual"),)
    history = (Turn(of, of),)
    about = sample(
        text, question=of, gold=((of,), ("in 12 years",)), supplied=passages, history=history, language=language
    )
    return replace(about, case=about.case.with_facets(numeric_gold="true", several_aspects="true"))


def unfenced(messages: Sequence[Message]) -> list[str]:
    """Return the lines outside quotes, for a reader who takes any kind of line break as the end of a line."""
    text = "\n".join(message["content"] for message in messages)
    for mark in BREAKS:
        text = text.replace(mark, "\n")
    return [line for line in text.split("\n") if line and not line.startswith(">")]


def test_there_are_enough_attacks_and_all_judges() -> None:
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
            assert unfenced(attacked) == unfenced(clean)
            assert attacked[0] == clean[0]
            assert [message["role"] for message in attacked] == ["system", "user"]
            assert "".join(message["content"] for message in attacked).encode("utf-8")


class Reader(ScriptedLLM):
    """A judge that obeys the text outside quotes and ignores the text inside."""

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__(self._said)
        self._labels = labels

    def _said(self, messages: Sequence[Message]) -> str:
        lines = unfenced(messages)
        orders = [label for label in self._labels if any(f"label: {label}" in line.lower() for line in lines)]
        return json.dumps({"reason": str(len(lines)), "label": (orders or self._labels)[0]})


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("judge", JUDGES.values(), ids=list(JUDGES))
def test_a_model_that_ignores_quoted_text_resists_all_attacks(judge: PromptedJudge, language: str) -> None:
    model = Reader(list(judge.labels or {}))
    apart = replace(judge, applies=lambda sample: None)

    def said(text: str) -> Verdict:
        return asyncio.run(apart.ask(sample_with(text, language), model))

    clean = said("Rome")
    for name, text in ATTACKS.items():
        assert said(text) == clean, name


@pytest.mark.parametrize("name", ATTACKS)
def test_a_manipulated_reply_is_quoted_in_the_second_request(name: str) -> None:
    """An invalid label may repeat text of the answer, and the second request tells the judge what is wrong with it."""
    judge = JUDGES["accuracy_judged"]
    for language in LANGUAGES:
        model = ScriptedLLM([json.dumps({"label": ATTACKS[name]}), json.dumps({"label": ""})])
        asyncio.run(judge.ask(sample_with("Rome", language), model))
        plain = ScriptedLLM([json.dumps({"label": "Rome"}), json.dumps({"label": ""})])
        asyncio.run(judge.ask(sample_with("Rome", language), plain))
        assert unfenced(model.requests[1].messages[3:]) == unfenced(plain.requests[1].messages[3:])
