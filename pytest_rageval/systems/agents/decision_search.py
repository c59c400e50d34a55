"""Depth-first search over a model's decisions: which one is asked for next, and when the search goes back.

A decision is one reply of the model with the results of its calls. After a decision that ends a branch, the search goes
back by two decisions; after a dead end by one.

Source: Qin et al., ToolLLM (ICLR 2024), https://arxiv.org/abs/2307.16789.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pytest_rageval.trace.collector import CURRENT_STEP, Event, current_collector
from pytest_rageval.trace.recording import SOURCE
from pytest_rageval.trace.steps import BRANCH

__all__ = ["ANSWER", "DEAD_END", "GAVE_UP", "OPEN", "Decision", "DecisionSearch", "SearchLimits"]

ANSWER = "answer"
GAVE_UP = "gave_up"
DEAD_END = "dead_end"
OPEN = "open"

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The limits of a search; each is 1 or more.

    Attributes:
        width: the most decisions after the same state.
        max_nodes: the depth in nodes from which a branch is a dead end.
        max_calls: the most requests to the model.
        answers: the search ends with this many answers.
    """

    width: int = 2
    max_nodes: int = 12
    max_calls: int = 60
    answers: int = 1


@dataclass(frozen=True, slots=True)
class Decision(Generic[S]):
    """A reply of the model, with the results of its calls.

    Attributes:
        state: the conversation with it.
        nodes: the nodes of depth that it adds: 2 for calls of tools, 1 for a thought; 0 for a request that failed.
        outcome: ``answer`` or ``gave_up`` if the model ends the branch, ``dead_end`` if the request failed, else
            ``open``.
    """

    state: S
    nodes: int
    outcome: str = OPEN


@dataclass(slots=True)
class _State(Generic[S]):
    """A state whose next decisions the search asks for."""

    value: S
    depth: int = 0
    path: str = ""
    branch: Event | None = None
    children: list[S] = field(default_factory=list)
    asked: int = 0


Ask = Callable[[S, Sequence[S]], Awaitable[Decision[S]]]
"""(state, the states of its former decisions) -> the next decision."""


class DecisionSearch(Generic[S]):
    """A search; each decision is a step "branch" of the trace.

    Args:
        ask: asks the model for a decision.
        limits: the limits.

    Attributes:
        answers: the states with an answer, in the order in which they were found.
        given_up: the paths of the branches that gave up, in that order. "0.1" is the second decision after the first.
        decided: the number of decisions, without requests that failed.
        out_of_calls: whether ``max_calls`` ended the search.
    """

    def __init__(self, ask: Ask[S], limits: SearchLimits) -> None:
        self._ask = ask
        self._limits = limits
        self._calls = 0
        self.answers: list[S] = []
        self.given_up: list[str] = []
        self.decided = 0
        self.out_of_calls = False

    async def run(self, root: S) -> None:
        """Search from a state until there are enough answers, all is tried, or no call is left."""
        open_states = [_State(root)]
        while open_states and len(self.answers) < self._limits.answers:
            state = open_states[-1]
            if state.asked == self._limits.width:
                open_states.pop()
                continue
            if self._calls == self._limits.max_calls:
                self.out_of_calls = True
                return
            outcome, child = await self._decide(state)
            if outcome == OPEN:
                open_states.append(child)
            elif outcome != DEAD_END:
                open_states.pop()  # two decisions back: those after the same state are not tried

    async def _decide(self, state: _State[S]) -> tuple[str, _State[S]]:
        """Ask for the next decision after a state; return its outcome and the new state."""
        path = f"{state.path}.{state.asked}".lstrip(".")
        state.asked += 1
        self._calls += 1
        branch = Event(
            BRANCH, {"path": path, "depth": state.depth, "outcome": OPEN}, parent=state.branch, source=SOURCE
        )
        collector = current_collector()
        if collector is not None:
            collector.add(branch)
        outer = CURRENT_STEP.set(branch)
        try:
            decision = await self._ask(state.value, tuple(state.children))
        finally:
            CURRENT_STEP.reset(outer)
            branch.end = time.time()
        depth = state.depth + decision.nodes
        too_deep = decision.outcome == OPEN and depth >= self._limits.max_nodes
        outcome = DEAD_END if too_deep else decision.outcome
        branch.detail |= {"depth": depth, "outcome": outcome}
        if decision.nodes:
            self.decided += 1
            state.children.append(decision.state)
        if outcome == ANSWER:
            self.answers.append(decision.state)
        elif outcome == GAVE_UP:
            self.given_up.append(path)
        return outcome, _State(decision.state, depth, path, branch)
