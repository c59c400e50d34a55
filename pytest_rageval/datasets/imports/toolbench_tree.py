"""Convert the search tree of a ToolBench log to trace steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.actions import FINISH
from pytest_rageval.trace.literals import parse_json
from pytest_rageval.trace.scratchpad import NO_ACTION
from pytest_rageval.trace.steps import BRANCH, COMPLETION, THOUGHT, TOOL

__all__ = ["Tree", "read_tree"]

ACTION, INPUT, THINKING = "Action", "Action Input", "Thought"
NODE = "a node of the tree, an object with node_type, description and children"

OUTCOMES = {3: "answer", 4: "gave_up"}
"""Observation code of ``Finish`` -> outcome of its branch."""
INVALID = (1, 2)
"""Observation codes of an unknown tool and of malformed arguments; codes above 4 are errors of the tool's service."""


@dataclass(slots=True)
class Tree:
    """The steps of a search tree, in the order in which they happened.

    Attributes:
        steps: for each turn a branch that contains a model call and, if the turn has them, a thought and a tool call.
        outcomes: the outcome of each branch.
    """

    steps: list[Step] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)


def read_tree(root: Fields) -> Tree:
    """Convert a tree to steps. A turn is a thought, an action and its input, or only a thought.

    The ``path`` of a branch numbers the turns from the root: "0.1" is the second attempt after the first turn "0".
    ``Finish`` is not a tool call.

    Raises:
        DataError: a node is malformed.
    """
    tree = Tree()
    stack = list(_attempts(root, "", None))
    while stack:
        node, path, parent = stack.pop()
        turn = _turn(node)
        place = len(tree.steps)
        tree.outcomes.append(_outcome(turn[-1]))
        above = {} if parent is None else {"parent": parent}
        branch = {"path": path, "depth": turn[-1].count("depth"), "outcome": tree.outcomes[-1]}
        tree.steps.append(Step(BRANCH, {key: value for key, value in branch.items() if value is not None} | above))
        tree.steps += (Step(step.kind, {**step.detail, "parent": place}) for step in _steps(turn))
        stack += _attempts(turn[-1], f"{path}.", place)
    return tree


def _attempts(node: Fields, path: str, parent: int | None) -> Iterator[tuple[Fields, str, int | None]]:
    """Yield the turns after a node in reverse order."""
    children = list(node.objects("children", f"a list, each {NODE}"))
    for number in reversed(range(len(children))):
        yield children[number], f"{path}{number}", parent


def _turn(node: Fields) -> list[Fields]:
    """Return the nodes of the turn that starts with a node."""
    turn = [node]
    while not _is_reply(turn[-1]):
        children = list(turn[-1].objects("children", f"a list, each {NODE}"))
        if len(children) != 1:
            break
        turn += children
    return turn


def _is_reply(node: Fields) -> bool:
    """Return whether a node is the last of a model reply."""
    return node.string("node_type") == INPUT or bool(node.count("expand_num"))


def _outcome(node: Fields) -> str:
    outcome = OUTCOMES.get(node.count("observation_code") or 0)
    return outcome or ("dead_end" if node.flag("pruned") else "open")


def _steps(turn: list[Fields]) -> Iterator[Step]:
    if _is_reply(turn[-1]):
        yield Step(COMPLETION)
    call: dict[str, Any] | None = None
    for node in turn:
        kind, text = node.string("node_type"), node.string("description")
        if kind == THINKING:
            yield Step(THOUGHT, {"text": text})
        elif kind == ACTION:
            call = {"name": text} if text.strip() else {"name": NO_ACTION, "invalid": True}
        elif kind == INPUT and call is not None:
            call |= {"arguments": _arguments(text)} | _result(node)
        else:
            raise node.error("node_type", f"{THINKING}, {ACTION} or, below {ACTION}, {INPUT}")
    if call is not None and call["name"] != FINISH:
        yield Step(TOOL, call)


def _arguments(text: str) -> object:
    value = parse_json(text)
    return value if isinstance(value, dict) else text


def _result(node: Fields) -> dict[str, Any]:
    """Return a tool's result, and whether it failed according to the log's code or the ``error`` in the result."""
    if "observation" not in node:
        return {}
    observation, code = node.string("observation"), node.count("observation_code") or 0
    value = parse_json(observation)
    error = value.get("error") if isinstance(value, dict) else None
    result: dict[str, Any] = {"result": observation}
    if code in INVALID:
        return result | {"invalid": True}
    if code > max(OUTCOMES) or error:
        return result | {"error": error if isinstance(error, str) and error else f"code {code}"}
    return result
