"""Replay ToolBench's logs with ``dfsdt``: their replies reproduce the recorded trees."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.toolbench_tree import read_tree
from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.environment import Environment
from pytest_rageval.environments.tool import Tool
from pytest_rageval.errors import ModelError
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import Completion, Message, ToolCall
from pytest_rageval.systems.agents.dfsdt import workflow
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.trace.collector import CURRENT_STEP, collecting
from pytest_rageval.trace.completing import complete_answer
from pytest_rageval.trace.steps import BRANCH, THOUGHT, model_calls, tool_calls

Node = dict[str, Any]

FAILED = {"G1_57": 1, "G1_69": 6}
"""Requests that failed in a log; ``query_count`` counts replies."""
UNKNOWN_TOOL, MALFORMED = 1, 2
"""Codes of observations."""


class Log:
    """A log of ToolBench as a model and as tools; replies come from the log's turn at the same path."""

    def __init__(self, tree: Node) -> None:
        self.asked = self.replied = 0
        self._tree = tree
        self._turn: list[Node] = []

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the recorded reply; fail if the log has none."""
        step = CURRENT_STEP.get()
        assert step is not None
        assert step.parent is not None
        self.asked += 1
        self._turn = self._turn_at([int(number) for number in step.parent.detail["path"].split(".")])
        self.replied += 1
        thoughts = [node["description"] for node in self._turn if node["node_type"] == "Thought"]
        names = [node["description"] for node in self._turn if node["node_type"] == "Action"]
        inputs = [node["description"] for node in self._turn if node["node_type"] == "Action Input"]
        calls = [ToolCall(f"c{self.asked}", name, text) for name, text in zip(names, inputs, strict=True)]
        return Completion("\n".join(thoughts), tool_calls=tuple(calls))

    def tools(self) -> list[Tool]:
        """Return the tools that exist in the log."""
        nodes = list(_nodes(self._tree))
        tool_names = {
            node["description"]
            for node in nodes
            if node["node_type"] == "Action"
            and any(child.get("observation_code") != UNKNOWN_TOOL for child in node["children"])
        } - {"Finish"}
        anything = {"type": "object", "additionalProperties": True}
        return [
            Tool(name, "", anything, lambda **arguments: self._turn[-1]["observation"]) for name in sorted(tool_names)
        ]

    def _turn_at(self, path: list[int]) -> list[Node]:
        """Return the nodes of a turn; a child that the log does not have is a request that failed."""
        node = self._tree
        turn: list[Node] = []
        for number in path:
            if number >= len(node["children"]):
                raise ModelError("context_length", "the request failed in the log")
            turn = [node["children"][number]]
            while turn[-1]["node_type"] != "Action Input" and not turn[-1]["expand_num"]:
                (after,) = turn[-1]["children"]
                turn.append(after)
            node = turn[-1]
        return turn


def _nodes(node: Node) -> list[Node]:
    return [node, *(each for child in node["children"] for each in _nodes(child))]


def replay(record: Node) -> tuple[Log, Answer]:
    """Run ``dfsdt`` on a log with the options of the published runs."""
    log = Log(record["tree"]["tree"])
    ran = record["forward_args"]
    options = {
        "width": ran["tree_beam_size"],
        "max_nodes": ran["single_chain_max_step"],
        "max_calls": ran["max_query_count"],
        "answers": ran["answer"],
    }
    setup = SystemSetup("here", ComponentOptions({name: str(value) for name, value in options.items()}, "here"))
    environment = Environment("log", lambda: log.tools)
    system: Any = workflow(SystemParts(llm=log, environments=Environments({"log": lambda: environment}), setup=setup))
    with collecting() as collector:
        answer = asyncio.run(system(Query(record["answer_generation"]["query"])))
    return log, complete_answer(answer, collector)


def branches(steps: Sequence[Step]) -> list[tuple[object, object, object]]:
    """Return path, depth and outcome of each turn, without requests that failed."""
    answered_turns = {
        step.detail.get("parent") for step in steps if step.kind == "completion" and "error" not in step.detail
    }
    turns = [step.detail for at, step in enumerate(steps) if step.kind == BRANCH and at in answered_turns]
    return [(turn["path"], turn["depth"], turn["outcome"]) for turn in turns]


def test_replies_of_a_log_reproduce_its_tree(rageval_data: Path) -> None:
    folder = rageval_data / "systems" / "toolbench"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert len(expected) == 7
    for name, counts in expected.items():
        record = json.loads((folder / name).read_text(encoding="utf-8"))
        log, answer = replay(record)
        recorded = read_tree(Fields(name, record["tree"]["tree"])).steps
        key = name.partition("_ChatGPT")[0]
        assert (log.replied, log.asked) == (counts["query_count"], counts["query_count"] + FAILED.get(key, 0)), name
        assert branches(answer.trace) == branches(recorded), name
        assert len(branches(answer.trace)) == counts["query_count"]
        assert len(model_calls(answer.trace)) == log.asked
        assert len(tool_calls(answer.trace)) == counts["tool_calls"] - counts["finish_calls"], name
        assert sum(step.kind == THOUGHT for step in answer.trace) == counts["node_types"].get("Thought", 0)
        assert (answer.trace[-1].detail["reason"] == "finished") == counts["win"]
        if counts["win"]:
            final_answer = json.loads(record["answer_generation"]["final_answer"])["final_answer"]
            assert answer.text == final_answer.strip()
