"""The agent ``react``: the model thinks, calls a tool and reads the result, in a loop.

Source: Yao et al., ReAct (2023), https://arxiv.org/abs/2210.03629. Unlike the published code, it asks the model once
per step; ``compat=reval`` asks twice, as R-Eval's code does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.environment import OpenEnvironment
from pytest_rageval.environments.shortening import cut_text
from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import ChatModel
from pytest_rageval.model.plain import plain_text
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.agents.context_room import has_room, room_for_reply
from pytest_rageval.systems.agents.options import AgentOptions, read_agent_options
from pytest_rageval.systems.agents.prompts import AgentPrompts
from pytest_rageval.systems.agents.react_prompt import ReactPrompt, ReactTranscript, load_react_prompts
from pytest_rageval.systems.agents.react_reply import STOP, ReactReply, finish_text, read_reply
from pytest_rageval.systems.agents.run import AgentRun, RunEnded, run_agent
from pytest_rageval.systems.agents.tool_texts import arguments_by_name
from pytest_rageval.systems.embedded.turn import Turn
from pytest_rageval.systems.llm import model_of
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.prompting import load_prompts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.systems.workflow import PlannedRun, Workflow
from pytest_rageval.trace.actions import FINISH, Action, read_action

__all__ = ["React", "ReactLoop", "ReactOptions", "workflow"]

REVAL = "reval"
"""The value of ``compat`` for R-Eval's loop."""
REVAL_PARAMS: dict[str, Any] = {"stop": ["\n"], "max_tokens": 128, "temperature": 0}
MAX_SILENT_REPLIES = 3
"""The run ends after this number of replies in a row without an action."""
MAX_EQUAL_ACTIONS = 3
"""After this number of equal actions in a row, the model reads `AGAIN`."""
LONGEST_NAME = 64
"""Maximum length of an unknown tool's name in the trace."""
AGAIN = "You have done this before."
NO_ACTION = 'There is no action. Write a line that begins with "Action", with a tool or Finish.'


@dataclass(frozen=True, slots=True)
class ReactOptions:
    """The options of ``react``.

    Attributes:
        agent: the options that all agents share.
        compat: "reval" for R-Eval's loop, else "".
        prompts: the texts of the prompt file.
    """

    agent: AgentOptions
    compat: str
    prompts: AgentPrompts


def _read(setup: SystemSetup) -> ReactOptions:
    agent = read_agent_options(setup)
    compat = setup.options.text("compat")
    if compat not in ("", REVAL):
        raise SettingError(f"{setup.where} has compat={compat}; write compat={REVAL}, or remove it")
    setup.options.finish()
    return ReactOptions(agent, compat, load_react_prompts(agent))


@dataclass(frozen=True, slots=True)
class React:
    """The system; it makes one run for each case.

    Attributes:
        model: the model.
        environments: the environments of the session; the case selects one.
        options: the options.
        prompt: makes the messages.
    """

    model: ChatModel
    environments: Environments
    options: ReactOptions
    prompt: ReactPrompt

    async def __call__(self, query: Query) -> Answer:
        agent = self.options.agent
        with self.environments.of_case(agent.environment).open(agent.max_observation) as tools:
            loop = ReactLoop(AgentRun(query, self.model, tools), tools, self.prompt, self.options)
            return await run_agent(loop.run, loop.solve, agent.max_time)


class ReactLoop:
    """The steps of one case."""

    def __init__(self, run: AgentRun, tools: OpenEnvironment, prompt: ReactPrompt, options: ReactOptions) -> None:
        self.run = run
        self._tools = {tool.name: tool for tool in tools.tools}
        self._names = [*self._tools] or [FINISH]
        self._prompt = prompt
        self._options = options
        self._head = prompt.head(run.query, tools.tools)
        self._transcript = ReactTranscript.of(run.query)
        self._actions: list[tuple[str, str]] = []

    async def solve(self, run: AgentRun) -> str:
        """Return the answer; a limit raises `RunEnded`."""
        silent_replies, max_steps = 0, self._options.agent.max_steps
        for number in range(1, max_steps + 1):
            reply = await self._reply(number)
            run.think(reply.thought)
            action = reply.action
            if action is None:
                silent_replies += 1
                if silent_replies == MAX_SILENT_REPLIES:
                    raise RunEnded("no_action", f"{MAX_SILENT_REPLIES} replies in a row have no action")
                self._transcript.add(number, reply.thought, reply.action_text, "", NO_ACTION)
                continue
            silent_replies = 0
            if action.is_finish and not action.fault:
                return finish_text(action.arguments)
            await self._act(number, reply, action)
        raise RunEnded("step_limit", f"there is no answer after {max_steps} steps")

    async def _reply(self, number: int) -> ReactReply:
        """Return the next thought and action; if the action is missing, ask for it in a second request."""
        if self._options.compat == REVAL:
            return await self._reply_in_two_calls(number)
        reply = read_reply(await self._ask(f"Thought {number}:", stop=[STOP]), self._names)
        if reply.action is None and reply.thought:
            line_starts = (f"Thought {number}: {reply.thought}", f"Action {number}:")
            again = read_reply(await self._ask(*line_starts, stop=[STOP]), self._names)
            return ReactReply(reply.thought, again.action_text, again.action)
        return reply

    async def _reply_in_two_calls(self, number: int) -> ReactReply:
        """Return the next step by R-Eval's rules: a line of thought, then a line of action."""
        thought = _line(await self._ask(f"Thought {number}:", **REVAL_PARAMS))
        action_text = _line(await self._ask(f"Thought {number}: {thought}", f"Action {number}:", **REVAL_PARAMS))
        return ReactReply(thought, action_text, read_action(action_text, self._names))

    async def _ask(self, *line_starts: str, **params: Any) -> str:
        """Return the model's text; "" if it sent an empty reply."""
        run, query = self.run, self.run.query
        messages = (*self._head, self._prompt.question(query, self._transcript.text(*line_starts)))
        reserved = 0 if self._options.compat == REVAL else room_for_reply(run.model)
        if not has_room(run.model, messages, reserved):
            raise RunEnded("context_limit", "the prompt no longer fits the model")
        try:
            return plain_text((await run.ask(messages, self._turn, **params)).text)
        except ModelError as error:
            if error.kind != "empty_reply":
                raise
            return ""

    @property
    def _turn(self) -> Turn:
        query, max_steps = self.run.query, self._options.agent.max_steps
        tools, uses = tuple(self._tools.values()), tuple(self.run.uses)
        return Turn("react", query.question, query.language, tools, uses, query.passages, max_steps, finish=FINISH)

    async def _act(self, number: int, reply: ReactReply, action: Action) -> None:
        if action.fault:
            fault = cut_text(action.fault, self._options.agent.max_observation)  # it may repeat a long name
            observation = self.run.reject(action.name[:LONGEST_NAME], action.arguments, fault)
        else:
            tool = self._tools[action.name]
            arguments = arguments_by_name(action.arguments, tool)
            observation = await self.run.call(tool.name, arguments, trailing=action.trailing)
        self._actions.append((action.name.casefold(), repr(action.arguments)))
        repeated = self._actions[-MAX_EQUAL_ACTIONS:] == self._actions[-1:] * MAX_EQUAL_ACTIONS
        self._transcript.add(number, reply.thought, reply.action_text, observation.text, AGAIN if repeated else "")


def _line(text: str) -> str:
    """Return the first line of a reply."""
    return text.strip().partition("\n")[0].strip()


def _build(parts: SystemParts, options: ReactOptions) -> System:
    if parts.environments is None:
        raise _no_environment()
    return React(model_of(parts, "react"), parts.environments, options, _prompt(parts, options))


def _prompt(parts: SystemParts, options: ReactOptions) -> ReactPrompt:
    return ReactPrompt(options.prompts, parts.prompts or load_prompts(), options.agent.examples)


def _no_environment() -> SettingError:
    return SettingError("react needs an environment; set rag_corpus or rag_environments in the ini")


def _plan(options: ReactOptions, query: Query, parts: SystemParts) -> PlannedRun:
    """Return the first prompt and the maximum number of calls, if every thought comes with its action."""
    if parts.environments is None:
        raise _no_environment()
    with parts.environments.of_case(options.agent.environment).open() as tools:
        head = _prompt(parts, options).head(query, tools.tools)
    last = _prompt(parts, options).question(query, ReactTranscript.of(query).text("Thought 1:"))
    a_step, params = (2, REVAL_PARAMS) if options.compat == REVAL else (1, {"stop": [STOP]})
    return PlannedRun((*head, last), a_step * options.agent.max_steps, exact=False, params=params)


workflow = Workflow(
    _read,
    _build,
    _plan,
    uses_environments=True,
    uses_embedded=True,
    retrieves=False,
    files=lambda options: options.agent.files,
)
