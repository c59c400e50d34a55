"""Template values that show an answer on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.model.answer import Step
from pytest_rageval.report.text.lines import number
from pytest_rageval.report.text.steps import depths, step_head, step_results
from pytest_rageval.report.text.word_difference import Piece, new_side, old_side, word_difference
from pytest_rageval.web.play.marked_text import MarkedText, marked_text
from pytest_rageval.web.play.page_answer import PageAnswer, ShownPassage

__all__ = [
    "FIRST_PASSAGES", "LONGEST", "AnswerView", "PassageView", "StepView", "answer_view", "facts_of", "one_line",
    "passage_views",
]  # fmt: skip

LONGEST = 5_000
"""Maximum number of characters of an answer on the page; the full text has a page of its own."""

FIRST_PASSAGES = 50
"""Number of passages that the page shows at first."""


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of an answer.

    Attributes:
        depth: its nesting depth below other steps.
        name: its kind and action.
        head: what it was called with.
        facts: time, tokens, cost, and whether it was replayed.
        results: its results, one line each.
        prompt: the messages of its prompt, as (role, text).
    """

    depth: int
    name: str
    head: str
    facts: str
    results: list[str]
    prompt: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage, and its text with gold answers and question words marked."""

    passage: Any
    text: MarkedText


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer.

    Attributes:
        answer: the answer.
        text: its text, cut to `LONGEST` characters.
        is_cut: whether the text was cut.
        facts: time, tokens, cost, and whether it was replayed.
        scores: name, value or reason, and whether it has a value.
        steps: its steps.
        passages: the first of its passages.
        n_more: number of further passages.
        old, new: the word difference between the earlier answer and this one, as pieces of each.
        compared: the earlier answer; None if there is none.
    """

    answer: PageAnswer
    text: str
    is_cut: bool
    facts: list[str]
    scores: list[tuple[str, str, bool]]
    steps: list[StepView]
    passages: list[PassageView]
    n_more: int
    old: list[Piece]
    new: list[Piece]
    compared: PageAnswer | None


def answer_view(answer: PageAnswer, compared: PageAnswer | None = None) -> AnswerView:
    """Return what the page shows of an answer, compared with an earlier answer if there is one."""
    text = (answer.answer or "")[:LONGEST]
    pieces = [] if compared is None else word_difference((compared.answer or "")[:LONGEST], text)
    return AnswerView(
        answer=answer,
        text=text,
        is_cut=len(answer.answer or "") > LONGEST,
        facts=facts_of(answer),
        scores=[
            (name, str(score.reason) if score.value is None else number(score.value), score.value is not None)
            for name, score in answer.scores.items()
        ],
        steps=_steps(answer.steps),
        passages=passage_views(answer.passages[:FIRST_PASSAGES], answer),
        n_more=max(0, len(answer.passages) - FIRST_PASSAGES),
        old=old_side(pieces),
        new=new_side(pieces),
        compared=compared,
    )


def passage_views(passages: Sequence[ShownPassage], answer: PageAnswer) -> list[PassageView]:
    """Return passages, with the gold answers and the words of the question marked."""
    aliases = [alias for slot in answer.gold for alias in slot]
    return [PassageView(each, marked_text(each.text, aliases, answer.question)) for each in passages]


def facts_of(answer: PageAnswer) -> list[str]:
    """Return the time, the tokens and the cost of an answer; unknown figures are left out."""
    facts = []
    usage, calls = answer.usage, answer.calls
    if usage is not None and usage.latency_s is not None:
        facts.append(_seconds(usage.latency_s))
    if usage is not None and usage.prompt_tokens is not None and usage.completion_tokens is not None:
        facts.append(f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens")
    if calls is not None:
        facts.append("replayed" if answer.replayed else f"asked, {calls.calls - calls.replayed} of {calls.calls} calls")
        if calls.cost_usd is not None:
            facts.append(f"${calls.cost_usd:.6f}".rstrip("0").rstrip("."))
    elif usage is not None and usage.cost_usd:
        facts.append(f"${usage.cost_usd:.6f}".rstrip("0").rstrip("."))
    return facts


def one_line(text: str) -> str:
    """Return an answer as one line: each line of the field of gold answers is one spelling."""
    return " ".join(text.split())


def _steps(trace: Sequence[Step]) -> list[StepView]:
    return [_step(step, depth) for step, depth in zip(trace, depths(trace), strict=True)]


def _step(step: Step, depth: int) -> StepView:
    detail = step.detail
    name = " ".join(filter(None, [step.kind, str(detail.get("action") or "")]))
    facts = []
    if isinstance(detail.get("seconds"), int | float):
        facts.append(_seconds(float(detail["seconds"])))
    tokens = [detail.get(key) for key in ("prompt_tokens", "completion_tokens")]
    if all(isinstance(each, int) for each in tokens):
        facts.append(f"{tokens[0]:,} + {tokens[1]:,} tokens")
    if isinstance(detail.get("cost_usd"), int | float) and detail["cost_usd"]:
        facts.append(f"${detail['cost_usd']:.6f}".rstrip("0").rstrip("."))
    if detail.get("replayed"):
        facts.append("replayed")
    return StepView(min(depth, 6), name, step_head(step), ", ".join(facts), list(step_results(step)), _prompt(detail))


def _prompt(detail: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the messages of a prompt, as (role, text)."""
    prompt = detail.get("prompt")
    if isinstance(prompt, str):
        return [("", prompt[:LONGEST])]
    messages = prompt if isinstance(prompt, list) else []
    return [(str(m.get("role", "")), str(m.get("content", ""))[:LONGEST]) for m in messages if isinstance(m, Mapping)]


def _seconds(value: float) -> str:
    return "under 1 ms" if value < 0.001 else f"{value:.3g} s"
