"""Search a model's decisions depth first, and backtrack from dead ends.

A decision is one reply of the model with the results of its calls. The search goes back by two decisions after a
decision that ends a branch, and by one decision after a dead end.

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
        width: maximum number of decisions after the same state.
        max_nodes: a branch of this depth, in nodes, is a dead end.
        max_calls: maximum number of requests to the model.
        answers: the search ends after this number of answers.
    """

    width: int = 2
    max_nodes: int = 12
    max_calls: int = 60
    answers: int = 1


@dataclass(frozen=True, slots=True)
class Decision(Generic[S]):
    """A reply of the model, with the results of its calls.

    Attributes:
        state: the conversation, including the decision.
        nodes: the depth that it adds, in nodes: 2 for calls of tools, 1 for a thought; 0 if the request failed.
        outcome: ``answer`` or ``gave_up`` if the model ends the branch, ``dead_end`` if the request failed, else
            ``open``.
    """

    state: S
    nodes: int
    outcome: str = OPEN


@dataclass(slots=True)
class _State(Generic[S]):
    """A state from which the search asks for decisions."""

    value: S
    depth: int = 0
    path: str = ""
    branch: Event | None = None
    children: list[S] = field(default_factory=list)
    attempts: int = 0


Ask = Callable[[S, Sequence[S]], Awaitable[Decision[S]]]
"""(state, the states after its earlier decisions) -> the next decision."""


class DecisionSearch(Generic[S]):
    """One search; it records each decision as a step "branch" of the trace.

    Args:
        ask: asks the model for a decision.
        limits: the limits.

    Attributes:
        answers: the states with an answer, in the order in which they were found.
        abandoned_paths: the paths of the branches that gave up, in the same order. "0.1" is the second decision after
            the first.
        decision_count: the number of decisions, without failed requests.
        out_of_calls: whether ``max_calls`` ended the search.
    """

    def __init__(self, ask: Ask[S], limits: SearchLimits) -> None:
        self._ask = ask
        self._limits = limits
        self._calls = 0
        self.answers: list[S] = []
        self.abandoned_paths: list[str] = []
        self.decision_count = 0
        self.out_of_calls = False

    async def run(self, root: S) -> None:
        """Search from a state until there are enough answers, all decisions are tried, or ``max_calls`` is reached."""
        open_states = [_State(root)]
        while open_states and len(self.answers) < self._limits.answers:
            state = open_states[-1]
            if state.attempts == self._limits.width:
                open_states.pop()
                continue
            if self._calls == self._limits.max_calls:
                self.out_of_calls = True
                return
            outcome, child = await self._decide(state)
            if outcome == OPEN:
                open_states.append(child)
            elif outcome != DEAD_END:
                open_states.pop()  # go back by two decisions: skip the other decisions after the same state

    async def _decide(self, state: _State[S]) -> tuple[str, _State[S]]:
        """Ask for the next decision after a state; return its outcome and the new state."""
        path = f"{state.path}.{state.attempts}".lstrip(".")
        state.attempts += 1
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
            self.decision_count += 1
            state.children.append(decision.state)
        if outcome == ANSWER:
            self.answers.append(decision.state)
        elif outcome == GAVE_UP:
            self.abandoned_paths.append(path)
        return outcome, _State(decision.state, depth, path, branch)
