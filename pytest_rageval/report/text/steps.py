"""Format the steps of a trace as lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.steps import BRANCH, COMPLETION, END, PROGRAM, RETRIEVE, TEMPLATE, THOUGHT, TOOL

__all__ = ["depths", "step_head", "step_lines", "step_results"]

MAX_VALUE = 200
"""Characters to show of one value."""

_SHOWN_ELSEWHERE = ("parent", "seconds", "error", "passages")
"""Keys of a step that the indent, the end of its line or the lines below show."""

_HEADS: Mapping[str, Sequence[str]] = {
    COMPLETION: ("model",),
    THOUGHT: (),
    PROGRAM: ("value",),
    TEMPLATE: (),
    END: ("reason", "detail"),
    BRANCH: ("path", "outcome"),
}
"""Kind of a step -> the keys for its line."""

_RESULT_KEYS = {TOOL: "result", TEMPLATE: "text", THOUGHT: "text", PROGRAM: "code", COMPLETION: "text"}
"""Kind of a step -> the key of its result, whose first line is printed below."""


def step_lines(trace: Sequence[Step]) -> Iterator[str]:
    """Yield the lines of each step: kind, arguments, tokens and seconds, and below them its results."""
    for number, (step, depth) in enumerate(zip(trace, depths(trace), strict=True), 1):
        indent = "  " * depth
        action = _short(step.detail.get("action", ""))  # of a chain
        parts = [f"{number:>3} {indent}{ascii_safe(step.kind)}", action, step_head(step)]
        tokens = [step.detail.get(key) for key in ("prompt_tokens", "completion_tokens")]
        if all(map(_is_number, tokens)):
            parts.append(f"{tokens[0]:,} + {tokens[1]:,} tokens")
        seconds = step.detail.get("seconds")
        if _is_number(seconds):
            parts.append("<0.001 s" if seconds < 0.001 else f"{seconds:.3g} s")
        yield "  ".join(part for part in parts if part)
        for text in step_results(step):
            yield f"{'':>4}{indent}  {text}"


def depths(trace: Sequence[Step]) -> list[int]:
    """Return the depth of each step: the number of its parents. A parent after its step is ignored."""
    step_depths: list[int] = []
    for at, step in enumerate(trace):
        parent = step.detail.get("parent")
        step_depths.append(step_depths[parent] + 1 if type(parent) is int and 0 <= parent < at else 0)
    return step_depths


def step_head(step: Step) -> str:
    """Return the name and arguments of a step, such as ``search(query="opening hours")``; "" without any."""
    detail = step.detail
    if step.kind in _HEADS:
        return "  ".join(_short(detail[key]) for key in _HEADS[step.kind] if detail.get(key) not in (None, ""))
    if step.kind == TOOL:
        name, arguments = _short(detail.get("name", "?")), detail.get("arguments")
        if arguments is None:  # not recorded, or left out for privacy
            return name
        return f"{name}({_pairs(arguments) if isinstance(arguments, Mapping) else _json(arguments)})"
    if step.kind == RETRIEVE:
        query = _json(detail["query"]) if "query" in detail else ""
        return " ".join(part for part in (_short(detail.get("retriever", "")), query) if part)
    return _pairs({key: value for key, value in detail.items() if key not in _SHOWN_ELSEWHERE})


def step_results(step: Step) -> Iterator[str]:
    """Yield the first line of a step's result, its passages, its notes, and its error."""
    detail = step.detail
    result = detail.get(_RESULT_KEYS.get(step.kind, ""))
    if result not in (None, ""):
        yield f"-> {_short(result) if isinstance(result, str) else _json(result)}"
    passages = detail.get("passages")
    if isinstance(passages, list):
        ids = ", ".join(_short(each.get("id")) for each in passages if isinstance(each, Mapping))
        yield f"-> {len(passages)} passage{'' if len(passages) == 1 else 's'}{': ' if ids else ''}{ids}"
    notes = detail.get("notes")
    yield from (f"note: {_short(note)}" for note in (notes if isinstance(notes, list) else ()))
    if detail.get("error"):
        yield f"error: {_short(detail['error'])}"
    elif detail.get("invalid"):
        yield "invalid call"


def _pairs(values: Mapping[Any, Any]) -> str:
    return ", ".join(f"{_short(key)}={_json(value)}" for key, value in values.items())


def _json(value: Any) -> str:
    return _short(json.dumps(value, ensure_ascii=False))


def _short(value: Any) -> str:
    """Return the first line of a value, cut to `MAX_VALUE` characters."""
    first, _, rest = str(value).lstrip().partition("\n")
    text = ascii_safe(first)
    return f"{text[: MAX_VALUE - 3]}..." if len(text) > MAX_VALUE or rest.strip() else text


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
