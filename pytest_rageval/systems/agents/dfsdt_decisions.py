"""Make the decisions of ``dfsdt``: ask the model, run its tool calls, detect the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_rageval.environments.arguments import fit_arguments, parse_arguments
from pytest_rageval.environments.tool import InvalidArgumentsError, Tool
from pytest_rageval.model.chat import Completion, Message, ToolCall
from pytest_rageval.systems.agents.decision_search import (
    ANSWER,
    DEAD_END,
    GAVE_UP,
    OPEN,
    Decision,
    DecisionSearch,
    SearchLimits,
)
from pytest_rageval.systems.agents.prompts import AgentPrompts
from pytest_rageval.systems.agents.run import AgentRun, RunEnded
from pytest_rageval.systems.agents.tool_chat import arguments_of, ask, reply_message, result_message, tool_schemas
from pytest_rageval.systems.embedded.turn import ToolUse, Turn
from pytest_rageval.text.quoting import quote_lines

__all__ = ["FINISH", "DecisionMaker", "DecisionState"]

_RETURN_TYPE, _FINAL_ANSWER = "return_type", "final_answer"
_GIVE_ANSWER, _GIVE_UP = "give_answer", "give_up_and_restart"
FINISH = Tool(
    "Finish",
    "End this attempt: give the final answer, or give up and restart from an earlier decision.",
    {
        "type": "object",
        "properties": {
            _RETURN_TYPE: {"type": "string", "enum": [_GIVE_ANSWER, _GIVE_UP]},
            _FINAL_ANSWER: {
                "type": "string",
                "description": f"The answer, as short as the question allows. Required with {_GIVE_ANSWER}.",
            },
        },
        "required": [_RETURN_TYPE],
        "additionalProperties": False,
    },
    call=str,  # never called: a call ends the branch
)
_FINISH_HELP = (
    f"Call {FINISH.name} with {_RETURN_TYPE} {_GIVE_ANSWER} and {_FINAL_ANSWER}, or with {_RETURN_TYPE} {_GIVE_UP}."
)
_CALL_NODES, _THOUGHT_NODES = 2, 1
"""Depth, in nodes, that the calls of a reply add, and that a thought adds."""


@dataclass(frozen=True, slots=True)
class DecisionState:
    """A conversation after a decision.

    Attributes:
        messages: the conversation.
        summary: the decision and its results, for a request that asks for another decision.
        uses: the calls of tools so far.
        answer: the final answer, if the decision gives one.
    """

    messages: tuple[Message, ...]
    summary: str = ""
    uses: tuple[ToolUse, ...] = ()
    answer: str = ""


class DecisionMaker:
    """Searches for the answer of one case.

    Args:
        run: asks the model and calls the tools.
        tools: the tools of the environment.
        limits: the limits of the search.
        prompts: the texts, with ``go_on`` and ``siblings``.
    """

    def __init__(self, run: AgentRun, tools: tuple[Tool, ...], limits: SearchLimits, prompts: AgentPrompts) -> None:
        self._run = run
        self._tools = tools
        self._limits = limits
        self._prompts = prompts
        self._schemas = tool_schemas((*tools, FINISH))
        self._failed: RunEnded | None = None
        self._search = DecisionSearch(self._decide, limits)

    async def solve(self, opening: tuple[Message, ...]) -> str:
        """Return the first answer of a search that begins with these messages.

        Raises:
            RunEnded: no branch has an answer.
        """
        search = self._search
        await search.run(DecisionState(opening))
        if search.answers:
            return search.answers[0].answer
        if search.abandoned_paths:
            raise RunEnded("gave_up", f"branch {search.abandoned_paths[0]} gave up")
        if search.out_of_calls:
            raise RunEnded("call_limit", f"no answer after {self._limits.max_calls} requests")
        if self._failed is not None and not search.decision_count:
            raise self._failed
        raise RunEnded("step_limit", "no branch has an answer")

    async def _decide(self, state: DecisionState, earlier: Sequence[DecisionState]) -> Decision[DecisionState]:
        """Ask the model once, and run the calls of its reply."""
        messages = (*state.messages, *self._siblings(earlier))
        try:
            reply = await ask(self._run, messages, self._turn(state), self._schemas)
        except RunEnded as end:  # the prompt is too long, or the reply is filtered: another decision may work
            self._failed = self._failed or end
            return Decision(state, 0, DEAD_END)
        self._run.think(reply.text)
        if not reply.tool_calls:
            go_on = {"role": "user", "content": self._prompts.text("go_on", self._run.query.language, {})}
            messages = (*state.messages, reply.message, go_on)
            return Decision(replace(state, messages=messages, summary=reply.text), _THOUGHT_NODES)
        return await self._act(replace(state, messages=(*state.messages, reply_message(reply)), summary=""), reply)

    async def _act(self, state: DecisionState, reply: Completion) -> Decision[DecisionState]:
        """Run the calls of a reply in order; stop at a call that ends the branch."""
        nodes = _CALL_NODES + (_THOUGHT_NODES if reply.text.strip() else 0)
        for call in reply.tool_calls:
            outcome, text = _ending(call) if call.name == FINISH.name else (OPEN, "")
            if outcome == ANSWER and not self._search.answers:
                self._run.answer = text
            if outcome != OPEN:
                return Decision(replace(_with_call(state, call, ""), answer=text), nodes, outcome)
            if call.name != FINISH.name:
                text = (await self._run.call(call.name, arguments_of(call))).text
                state = replace(state, uses=(*state.uses, self._run.uses[-1]))
            state = _with_call(state, call, text)
        return Decision(state, nodes)

    def _siblings(self, earlier: Sequence[DecisionState]) -> tuple[Message, ...]:
        """Return the message that asks for a decision unlike the earlier ones; () for the first decision."""
        if not earlier:
            return ()
        decisions = "\n\n".join(f"[{number}]\n{quote_lines(state.summary)}" for number, state in enumerate(earlier, 1))
        text = self._prompts.text("siblings", self._run.query.language, {"decisions": decisions})
        return ({"role": "user", "content": text},)

    def _turn(self, state: DecisionState) -> Turn:
        query = self._run.query
        return Turn(
            "tools",
            query.question,
            query.language,
            self._tools,
            state.uses,
            query.passages,
            max_steps=max(1, self._limits.max_nodes // _CALL_NODES),
            finish=FINISH.name,
            finish_values={_RETURN_TYPE: _GIVE_ANSWER},
            answer_parameter=_FINAL_ANSWER,
        )


def _with_call(state: DecisionState, call: ToolCall, text: str) -> DecisionState:
    """Return a state with a call and the text of its result added."""
    summary = "\n".join(filter(None, (state.summary, f"{call.name}({call.arguments})", text)))
    return replace(state, messages=(*state.messages, result_message(call, text)), summary=summary)


def _ending(call: ToolCall) -> tuple[str, str]:
    """Return the outcome and the answer of a call of ``Finish``; ``open`` and a message for the model if invalid."""
    try:
        values = fit_arguments(parse_arguments(call.arguments), FINISH.parameters)
    except InvalidArgumentsError as fault:
        return OPEN, f"{fault} {_FINISH_HELP}"
    if values[_RETURN_TYPE] == _GIVE_UP:
        return GAVE_UP, ""
    if _FINAL_ANSWER not in values:
        return OPEN, f"The call needs {_FINAL_ANSWER}. {_FINISH_HELP}"
    return ANSWER, values[_FINAL_ANSWER].strip()
