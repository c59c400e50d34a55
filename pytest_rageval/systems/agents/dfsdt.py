"""The agent ``dfsdt``: a model calls tools, and goes back to try another decision where a branch fails.

Source: Qin et al., ToolLLM (ICLR 2024), https://arxiv.org/abs/2307.16789.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_rageval.environments.arguments import fitted, parsed
from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.environment import OpenEnvironment
from pytest_rageval.environments.tool import InvalidArgumentsError, Tool
from pytest_rageval.errors import SettingError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import ChatModel, Completion, Message, ToolCall
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.agents.decision_search import (
    ANSWER,
    DEAD_END,
    GAVE_UP,
    OPEN,
    Decision,
    DecisionSearch,
    SearchLimits,
)
from pytest_rageval.systems.agents.options import AgentOptions, read_agent_options
from pytest_rageval.systems.agents.prompts import AgentPrompts, load_agent_prompts
from pytest_rageval.systems.agents.run import AgentRun, RunEnded, run_agent
from pytest_rageval.systems.agents.tool_chat import (
    PROMPT_KEYS,
    arguments_of,
    ask,
    check_free,
    offered,
    opening,
    planned,
    reply_message,
    result_message,
)
from pytest_rageval.systems.embedded.turn import ToolUse, Turn
from pytest_rageval.systems.llm import model_of
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.prompting import Prompts, load_prompts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.systems.workflow import PlannedRun, Workflow
from pytest_rageval.text.quoting import quoted

__all__ = ["DFSDT", "workflow"]

NAME = "dfsdt"

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
    call=str,  # the branch ends instead
)
_WANTED = (
    f"Call {FINISH.name} with {_RETURN_TYPE} {_GIVE_ANSWER} and {_FINAL_ANSWER}, or with {_RETURN_TYPE} {_GIVE_UP}."
)
_KEYS = {**PROMPT_KEYS, "go_on": (), "siblings": ("decisions",)}
_CALL_NODES, _THOUGHT_NODES = 2, 1
"""Nodes of depth of a reply's calls, and of a thought beside or without them."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``dfsdt``: those of all agents, the limits of the search, and its texts."""

    agent: AgentOptions
    limits: SearchLimits
    prompts: AgentPrompts

    def opening(self, query: Query, sentences: Prompts | None) -> tuple[Message, ...]:
        """Return the messages of the first request; ``sentences`` has the one that declines to answer."""
        values = (sentences or load_prompts()).sentences(query.language)
        return tuple(opening(query, self.prompts, self.agent.examples, **values))


@dataclass(frozen=True, slots=True)
class State:
    """A conversation after a decision.

    Attributes:
        messages: the conversation.
        shown: what the decision was and what it showed, for requests of another one.
        uses: the calls of tools on the way to it.
        answer: the final answer, if the decision gives one.
    """

    messages: tuple[Message, ...]
    shown: str = ""
    uses: tuple[ToolUse, ...] = ()
    answer: str = ""


@dataclass(frozen=True, slots=True)
class DFSDT:
    """Searches depth first over what a model decides, until it gives an answer."""

    model: ChatModel
    environments: Environments
    options: Options
    sentences: Prompts | None = None

    async def __call__(self, query: Query) -> Answer:
        common = self.options.agent
        with self.environments.of_case(common.environment).open(common.max_observation) as tools:
            check_free(tools.tools, FINISH, NAME)
            run = AgentRun(query, self.model, tools)
            opening = self.options.opening(query, self.sentences)
            return await run_agent(run, _Player(run, tools, self.options, opening).play, common.max_time)


class _Player:
    """Makes the decisions of one case."""

    def __init__(
        self, run: AgentRun, environment: OpenEnvironment, options: Options, opening: tuple[Message, ...]
    ) -> None:
        self._run = run
        self._options = options
        self._opening = opening
        self._tools = environment.tools
        self._schemas = offered((*environment.tools, FINISH))
        self._failed: RunEnded | None = None
        self._search = DecisionSearch(self._decide, options.limits)

    async def play(self, run: AgentRun) -> str:
        search = self._search
        await search.run(State(self._opening))
        if search.answers:
            return search.answers[0].answer
        if search.given_up:
            raise RunEnded("gave_up", f"branch {search.given_up[0]} gave up")
        if search.out_of_calls:
            raise RunEnded("call_limit", f"no answer after {self._options.limits.max_calls} requests")
        if self._failed is not None and not search.decided:
            raise self._failed
        raise RunEnded("step_limit", "no branch has an answer")

    async def _decide(self, state: State, former: Sequence[State]) -> Decision[State]:
        """Ask the model once, and run the calls of its reply."""
        messages = (*state.messages, *self._siblings(former))
        try:
            reply = await ask(self._run, messages, self._turn(state), self._schemas)
        except RunEnded as end:  # too long, or filtered: another decision may work
            self._failed = self._failed or end
            return Decision(state, 0, DEAD_END)
        self._run.think(reply.text)
        if not reply.tool_calls:
            go_on = {"role": "user", "content": self._options.prompts.text("go_on", self._run.query.language, {})}
            return Decision(replace(state, messages=(*state.messages, reply.message, go_on), shown=reply.text), 1)
        return await self._act(replace(state, messages=(*state.messages, reply_message(reply)), shown=""), reply)

    async def _act(self, state: State, reply: Completion) -> Decision[State]:
        """Run the calls of a reply in order; one that ends the branch is the last."""
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

    def _siblings(self, former: Sequence[State]) -> tuple[Message, ...]:
        """Return the message that asks for another decision than the former ones; none for the first decision."""
        if not former:
            return ()
        decisions = "\n\n".join(f"[{number}]\n{quoted(state.shown)}" for number, state in enumerate(former, 1))
        text = self._options.prompts.text("siblings", self._run.query.language, {"decisions": decisions})
        return ({"role": "user", "content": text},)

    def _turn(self, state: State) -> Turn:
        query, limits = self._run.query, self._options.limits
        return Turn(
            "tools",
            query.question,
            query.language,
            self._tools,
            state.uses,
            query.passages,
            max_steps=max(1, limits.max_nodes // _CALL_NODES),
            finish=FINISH.name,
            finish_values={_RETURN_TYPE: _GIVE_ANSWER},
            answer_parameter=_FINAL_ANSWER,
        )


def _with_call(state: State, call: ToolCall, text: str) -> State:
    """Return a state after a call that showed a text."""
    shown = "\n".join(filter(None, (state.shown, f"{call.name}({call.arguments})", text)))
    return replace(state, messages=(*state.messages, result_message(call, text)), shown=shown)


def _ending(call: ToolCall) -> tuple[str, str]:
    """Return the outcome of a call of ``Finish`` and its answer; ``open`` and what is wanted if it is invalid."""
    try:
        values = fitted(parsed(call.arguments), FINISH.parameters)
    except InvalidArgumentsError as fault:
        return OPEN, f"{fault} {_WANTED}"
    if values[_RETURN_TYPE] == _GIVE_UP:
        return GAVE_UP, ""
    if _FINAL_ANSWER not in values:
        return OPEN, f"The call needs {_FINAL_ANSWER}. {_WANTED}"
    return ANSWER, values[_FINAL_ANSWER].strip()


def _read(setup: SystemSetup) -> Options:
    given = setup.options
    if given.text("max_steps"):
        raise SettingError(f"{given.where} has max_steps; the limits of dfsdt are max_nodes and max_calls")
    common = read_agent_options(setup)
    default = SearchLimits()
    limits = SearchLimits(
        given.whole("width", default.width),
        given.whole("max_nodes", default.max_nodes),
        given.whole("max_calls", default.max_calls),
        given.whole("answers", default.answers),
    )
    given.finish()
    return Options(common, limits, load_agent_prompts(Path(__file__).parent / "prompts" / NAME, _KEYS, common.prompts))


def _build(parts: SystemParts, options: Options) -> System:
    return DFSDT(model_of(parts, NAME), parts.environments or Environments({}), options, parts.prompts)


def _plan(options: Options, query: Query, parts: SystemParts) -> PlannedRun:
    return planned(parts, options.agent, options.opening(query, parts.prompts), options.limits.max_calls, [FINISH])


workflow = Workflow(_read, _build, _plan, uses_environments=True, uses_embedded=True, retrieves=False)
