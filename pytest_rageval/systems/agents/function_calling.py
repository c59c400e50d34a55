"""The agent ``function_calling``: a model calls tools through its provider's API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.environments.arguments import fit_arguments, parse_arguments
from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.environment import OpenEnvironment
from pytest_rageval.environments.tool import InvalidArgumentsError, Observation, Tool
from pytest_rageval.errors import ModelError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import ChatModel, Message, ToolCall
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.agents.options import AgentOptions, read_agent_options
from pytest_rageval.systems.agents.prompts import AgentPrompts, load_agent_prompts
from pytest_rageval.systems.agents.run import AgentRun, RunEnded, run_agent
from pytest_rageval.systems.agents.tool_chat import (
    PROMPT_KEYS,
    arguments_of,
    ask,
    check_tool_names,
    opening,
    plan_of_run,
    reply_message,
    result_message,
    tool_schemas,
)
from pytest_rageval.systems.embedded.turn import Turn
from pytest_rageval.systems.llm import model_of
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.prompting import Prompts, load_prompts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.systems.workflow import PlannedRun, Workflow

__all__ = ["FunctionCalling", "FunctionCallingOptions", "workflow"]

NAME = "function_calling"

_ANSWER = {"answer": {"type": "string", "description": "The answer, as short as the question allows."}}
_FINISH = Tool(
    "finish",
    "Give the final answer.",
    {"type": "object", "properties": _ANSWER, "required": ["answer"], "additionalProperties": False},
    call=str,  # never called: a call ends the run
)
_KEYS = {**PROMPT_KEYS, "ending_reply": (), "ending_tool": ()}


@dataclass(frozen=True, slots=True)
class FunctionCallingOptions:
    """The options of ``function_calling``.

    Attributes:
        agent: the options that all agents share. A step is one reply with calls of tools.
        prompts: the texts for the model.
        finish: the tool that gives the answer; None if a reply without a call is the answer.
    """

    agent: AgentOptions
    prompts: AgentPrompts
    finish: Tool | None = None

    def opening(self, query: Query, sentences: Prompts | None) -> list[Message]:
        """Return the messages of the first request; ``sentences`` has the sentence that declines to answer."""
        values = (sentences or load_prompts()).sentences(query.language)
        ending = self.prompts.text("ending_tool" if self.finish else "ending_reply", query.language, values)
        return opening(query, self.prompts, self.agent.examples, ending=ending, **values)


@dataclass(frozen=True, slots=True)
class FunctionCalling:
    """Asks a model with tools, runs the tools of each reply in order, and returns the first reply without a call."""

    model: ChatModel
    environments: Environments
    options: FunctionCallingOptions
    sentences: Prompts | None = None

    async def __call__(self, query: Query) -> Answer:
        shared = self.options.agent
        environment = self.environments.of_case(shared.environment)
        with environment.open(shared.max_observation) as tools:
            if self.options.finish is not None:
                check_tool_names(tools.tools, self.options.finish, NAME)
            run = AgentRun(query, self.model, tools)
            return await run_agent(run, lambda run: self._solve(run, tools), shared.max_time)

    async def _solve(self, run: AgentRun, environment: OpenEnvironment) -> str:
        finish, steps = self.options.finish, self.options.agent.max_steps
        schemas = tool_schemas((*environment.tools, *((finish,) if finish else ())))
        messages = self.options.opening(run.query, self.sentences)
        for step in range(steps):
            try:
                reply = await ask(run, tuple(messages), self._turn(run, environment), schemas)
            except ModelError as error:
                if error.kind == "empty_reply" and step:  # the model has called tools, and its last reply has no text
                    return ""
                raise
            if not reply.tool_calls:
                return reply.text.strip()
            run.think(reply.text)
            messages.append(reply_message(reply))
            for call in reply.tool_calls:
                result = await self._observe(run, call)
                if isinstance(result, str):
                    return result
                messages.append(result_message(call, result.text))
        raise RunEnded("step_limit", f"no answer after {steps} steps")

    async def _observe(self, run: AgentRun, call: ToolCall) -> Observation | str:
        """Run a call; return its result, or the answer (a str) if it calls the tool ``finish``."""
        finish = self.options.finish
        if finish is None or call.name != finish.name:
            return await run.call(call.name, arguments_of(call))
        try:
            return str(fit_arguments(parse_arguments(call.arguments), finish.parameters)["answer"]).strip()
        except InvalidArgumentsError as fault:
            return run.reject(call.name, arguments_of(call), str(fault))

    def _turn(self, run: AgentRun, environment: OpenEnvironment) -> Turn:
        query, finish = run.query, self.options.finish
        return Turn(
            "tools",
            query.question,
            query.language,
            environment.tools,
            tuple(run.uses),
            query.passages,
            self.options.agent.max_steps,
            finish.name if finish else "",
        )


def _read(setup: SystemSetup) -> FunctionCallingOptions:
    shared = read_agent_options(setup)
    by_tool = setup.options.choice("finish", "reply", ("reply", "tool")) == "tool"
    setup.options.finish()
    prompts = load_agent_prompts(Path(__file__).parent / "prompts" / NAME, _KEYS, shared.prompts)
    return FunctionCallingOptions(shared, prompts, _FINISH if by_tool else None)


def _build(parts: SystemParts, options: FunctionCallingOptions) -> System:
    return FunctionCalling(model_of(parts, NAME), parts.environments or Environments({}), options, parts.prompts)


def _plan(options: FunctionCallingOptions, query: Query, parts: SystemParts) -> PlannedRun:
    ending = (options.finish,) if options.finish else ()
    return plan_of_run(parts, options.agent, options.opening(query, parts.prompts), options.agent.max_steps, ending)


workflow = Workflow(
    _read,
    _build,
    _plan,
    uses_environments=True,
    uses_embedded=True,
    retrieves=False,
    files=lambda options: options.agent.files,
)
