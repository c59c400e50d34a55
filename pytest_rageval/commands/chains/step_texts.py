"""Print the steps of a chain's run: the input and output of each action, with gold marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.commands.chains.gold_marks import GoldMarks
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.answer import Step
from pytest_rageval.report.text.lines import number
from pytest_rageval.trace.steps import COMPLETION, PROGRAM, RETRIEVE, TOOL

__all__ = ["prompt_blocks", "step_lines", "text_block"]

_ACTION_KINDS = {COMPLETION: "generate", PROGRAM: "python"}
"""Kind of a step -> the kind of its action, if they have different names."""

_INPUTS = {COMPLETION: "prompt", RETRIEVE: "query", TOOL: "arguments", PROGRAM: "python"}
"""Kind of a step -> the heading of its input."""

_OUTPUTS = {COMPLETION: "reply", TOOL: "result", PROGRAM: "value", RETRIEVE: "documents"}
"""Kind of a step -> the heading of its output."""


def step_lines(step: Step, marks: GoldMarks) -> Iterator[str]:
    """Yield the lines of one step of a chain: the action, its input, its output, notes and errors."""
    detail = step.detail
    names = [str(detail[key]) for key in ("retriever", "model", "name") if detail.get(key)]
    names += ["supplied passages"] if detail.get("supplied") else []
    yield "  ".join(map(ascii_safe, [str(detail.get("action", "")), _ACTION_KINDS.get(step.kind, step.kind), *names]))
    if step.kind in _INPUTS:
        yield from _input_lines(step, marks)
    if step.kind == RETRIEVE and "passages" in detail:
        yield from _document_lines(detail["passages"], marks)
    elif detail.get("text") is not None:
        yield from text_block(_OUTPUTS.get(step.kind, "text"), str(detail["text"]), marks)
    for note in detail.get("notes") or ():
        yield f"  note: {ascii_safe(str(note))}"
    if detail.get("error"):
        yield f"  error: {ascii_safe(str(detail['error']))}"


def text_block(what: str, text: str, marks: GoldMarks) -> Iterator[str]:
    """Yield a heading, ``what``, and the lines of a text below it."""
    yield f"  {what}:"
    yield from _quoted_lines(text, marks)


def _quoted_lines(text: str, marks: GoldMarks) -> Iterator[str]:
    yield from (f"  | {line}" if line else "  |" for line in marks.lines(text))


def prompt_blocks(messages: Sequence[tuple[str, str]], marks: GoldMarks) -> Iterator[str]:
    """Yield the messages of a prompt, pairs of role and text; print roles only if there are several messages."""
    for role, text in messages:
        yield from text_block(f"prompt ({role})" if len(messages) > 1 else "prompt", text, marks)


def _input_lines(step: Step, marks: GoldMarks) -> Iterator[str]:
    prompt: Any = step.detail.get("prompt", "")
    if not isinstance(prompt, list):
        yield from text_block(_INPUTS[step.kind], str(prompt), marks)
        return
    messages = [each for each in prompt if isinstance(each, Mapping)]
    yield from prompt_blocks([(str(each.get("role")), str(each.get("content"))) for each in messages], marks)


def _document_lines(passages: Sequence[Mapping[str, Any]], marks: GoldMarks) -> Iterator[str]:
    yield f"  documents: {len(passages) or 'none'}"
    for rank, each in enumerate(passages, 1):
        name, page, title = (str(each.get(key) or "") for key in ("id", "page", "title"))
        parts = [f"{rank}.", marks.page(name)]
        parts += [f"page {marks.page(page)}"] if page and page != name else []
        parts += [next(marks.lines(title.replace("\n", " ")))] if title else []
        parts += [f"score {number(each['score'])}"] if isinstance(each.get("score"), int | float) else []
        yield "  " + "  ".join(parts)
        yield from _quoted_lines(str(each.get("text") or ""), marks)
