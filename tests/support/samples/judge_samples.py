"""Samples and models for the tests of the judges."""

from __future__ import annotations

import asyncio
import json

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Gold, Instance, Passage, Turn
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.testing import ScriptedLLM

POLITE = PromptedJudge(
    "politeness",
    {"en": "Is the answer polite?", "zh": "这个回答有礼貌吗？"},
    labels={"polite": "nobody would mind", "rude": {"en": "a guest would mind", "zh": "客人会介意"}},
    values={"polite": 1, "rude": 0},
)
STARS = PromptedJudge("stars", "How good is the answer?", scale=(1, 5))


def sample(
    text: str = "Certainly.",
    *,
    question: str = "May I?",
    gold: Gold = (),
    supplied: tuple[Passage, ...] | None = None,
    history: tuple[Turn, ...] = (),
    language: str = "en",
) -> Sample:
    """Return a sample whose record has only these values."""
    instance = Instance("q1", question, gold, supplied, history=history, language=language)
    return Sample(Case("q1", instance, supplied, {}), Answer(text))


def reply(label: object, reason: str = "so") -> str:
    """Return a reply in the form that judges must use."""
    return json.dumps({"reason": reason, "label": label})


def ask(judge: Judge, of: Sample, *replies: str) -> tuple[Verdict, ScriptedLLM]:
    """Return a judge's verdict and the model that gave it these replies."""
    model = ScriptedLLM(list(replies))
    return asyncio.run(judge.ask(of, model)), model
