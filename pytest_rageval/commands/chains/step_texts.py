"""The lines of a chain's run: what each action was given and what it gave, with gold marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.commands.chains.gold_marks import GoldMarks
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.answer import Step
from pytest_rageval.report.text.lines import number
from pytest_rageval.trace.steps import COMPLETION, PROGRAM, RETRIEVE, TOOL

__all__ = ["block", "prompt_blocks", "step_lines"]

_DOES = {COMPLETION: "generate", PROGRAM: "python"}
"""Kind of a step -> the kind of its action, if they differ."""

_GIVEN = {COMPLETION: "prompt", RETRIEVE: "query", TOOL: "arguments", PROGRAM: "python"}
"""Kind of a step -> what its action was given, as the line above it says."""

_GAVE = {COMPLETION: "reply", TOOL: "result", PROGRAM: "value", RETRIEVE: "documents"}
"""Kind of a step -> what came of it."""


def step_lines(step: Step, marks: GoldMarks) -> Iterator[str]:
    """Yield the lines of one step of a chain."""
    detail = step.detail
    about = [str(detail[key]) for key in ("retriever", "model", "name") if detail.get(key)]
    about += ["supplied passages"] if detail.get("supplied") else []
    yield "  ".join(map(ascii_safe, [str(detail.get("action", "")), _DOES.get(step.kind, step.kind), *about]))
    if step.kind in _GIVEN:
        yield from _given(step, marks)
    if step.kind == RETRIEVE and "passages" in detail:
        yield from _documents(detail["passages"], marks)
    elif detail.get("text") is not None:
        yield from block(_GAVE.get(step.kind, "text"), str(detail["text"]), marks)
    for note in detail.get("notes") or ():
        yield f"  note: {ascii_safe(str(note))}"
    if detail.get("error"):
        yield f"  error: {ascii_safe(str(detail['error']))}"


def block(what: str, text: str, marks: GoldMarks) -> Iterator[str]:
    """Yield a text below the line that says what it is."""
    yield f"  {what}:"
    yield from _quoted(text, marks)


def _quoted(text: str, marks: GoldMarks) -> Iterator[str]:
    yield from (f"  | {line}" if line else "  |" for line in marks.lines(text))


def prompt_blocks(messages: Sequence[tuple[str, str]], marks: GoldMarks) -> Iterator[str]:
    """Yield the messages of a prompt, pairs of role and text; the role only if there are several."""
    for role, text in messages:
        yield from block(f"prompt ({role})" if len(messages) > 1 else "prompt", text, marks)


def _given(step: Step, marks: GoldMarks) -> Iterator[str]:
    prompt: Any = step.detail.get("prompt", "")
    if not isinstance(prompt, list):
        yield from block(_GIVEN[step.kind], str(prompt), marks)
        return
    messages = [each for each in prompt if isinstance(each, Mapping)]
    yield from prompt_blocks([(str(each.get("role")), str(each.get("content"))) for each in messages], marks)


def _documents(passages: Sequence[Mapping[str, Any]], marks: GoldMarks) -> Iterator[str]:
    yield f"  documents: {len(passages) or 'none'}"
    for rank, each in enumerate(passages, 1):
        name, page, title = (str(each.get(key) or "") for key in ("id", "page", "title"))
        parts = [f"{rank}.", marks.page(name)]
        parts += [f"page {marks.page(page)}"] if page and page != name else []
        parts += [next(marks.lines(title.replace("\n", " ")))] if title else []
        parts += [f"score {number(each['score'])}"] if isinstance(each.get("score"), int | float) else []
        yield "  " + "  ".join(parts)
        yield from _quoted(str(each.get("text") or ""), marks)
