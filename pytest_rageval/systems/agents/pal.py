"""The agent ``pal``: a model writes a program that calls tools and computes the answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.environment import OpenEnvironment
from pytest_rageval.environments.shortening import cut_text
from pytest_rageval.environments.tool import Tool
from pytest_rageval.errors import ModelError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Passage, Query
from pytest_rageval.model.chat import ChatModel, Message
from pytest_rageval.model.current import CASE_IDS
from pytest_rageval.model.plain import plain_json, plain_text
from pytest_rageval.model.protocols import System
from pytest_rageval.sandbox import BUILTIN, open_sandbox
from pytest_rageval.sandbox.protocol import Limits, ProgramResult, Sandbox
from pytest_rageval.systems.agents.options import AgentOptions, read_agent_options
from pytest_rageval.systems.agents.program_answer import answer_of, code_in
from pytest_rageval.systems.agents.program_tools import ProgramTools, signatures
from pytest_rageval.systems.agents.prompts import AgentPrompts, load_agent_prompts
from pytest_rageval.systems.agents.run import AgentRun, RunEnded, run_agent
from pytest_rageval.systems.embedded.turn import Turn
from pytest_rageval.systems.llm import model_of
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.prompting import Prompts, load_prompts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.systems.workflow import PlannedRun, Workflow
from pytest_rageval.text.quoting import quote_lines
from pytest_rageval.threads import Threads
from pytest_rageval.trace.recording import RecordedStep
from pytest_rageval.trace.steps import PROGRAM

__all__ = ["Pal", "PalOptions", "build"]

NAME = "pal"

VARIABLE = "answer"

GRACE = 0.5
"""Seconds after ``max_time`` until the sandbox ends the program; the run ends before that."""

_KEYS = {
    **dict.fromkeys(BUILTIN, ()),  # describes the Python of a sandbox to the model
    "system": ("tools",),
    "user": ("question", "documents"),
    "documents": ("passages",),
    "repair": ("error",),
    "conclude": ("value",),
}


@dataclass(frozen=True, slots=True)
class PalOptions:
    """The options of ``pal``.

    Attributes:
        agent: the options that all agents share.
        prompts: the texts for the model.
        repairs: how often the model may correct a program without an answer, >= 0.
        concludes: whether the model writes the final answer from the value of its program.
        sandbox: the name of the sandbox.
    """

    agent: AgentOptions
    prompts: AgentPrompts
    repairs: int = 0
    concludes: bool = False
    sandbox: str = "monty"

    def opening(self, query: Query, tools: Sequence[Tool], sentences: Prompts) -> list[Message]:
        """Return the messages of the first request; ``sentences`` has the sentence that declines to answer."""
        text = partial(self.prompts.text, language=query.language)
        documents = ""
        if query.passages is not None:
            quotes = [quote_lines(f"{each.title}\n{each.text}") for each in query.passages]
            passages = "\n\n".join(f"[{number}]\n{each}" for number, each in enumerate(quotes, 1))
            documents = text("documents", values={"passages": passages})
        examples = self.prompts.examples_text(query.language, self.agent.examples)
        python = text(self.sandbox, values={})
        instructions = {"tools": quote_lines(signatures(tools)), "python": python, "examples": examples}
        system = text("system", values={**sentences.sentences(query.language), **instructions})
        values = {"question": query.question, "documents": documents, "instructions": query.instructions}
        contents = [("system", system)]
        for turn in query.history:
            contents += [("user", turn.question), ("assistant", turn.answer)]
        contents.append(("user", text("user", values=values)))
        return [{"role": role, "content": content} for role, content in contents if content.strip()]

    def repair(self, query: Query, result: ProgramResult, problem: str) -> Message:
        """Return the request to correct a program."""
        printed = quote_lines(cut_text(result.printed, self.agent.max_observation))
        values = {"error": quote_lines(problem), "printed": printed or ">"}
        return {"role": "user", "content": self.prompts.text("repair", query.language, values)}

    def conclusion(self, query: Query, value: str) -> Message:
        """Return the request to write the final answer."""
        values = {"value": quote_lines(cut_text(value, self.agent.max_observation)), "question": query.question}
        return {"role": "user", "content": self.prompts.text("conclude", query.language, values)}


@dataclass(frozen=True, slots=True)
class Pal:
    """Asks a model for one program, runs it in the sandbox with the tools as functions, and returns its answer."""

    model: ChatModel
    environments: Environments
    sandbox: Sandbox
    options: PalOptions
    sentences: Prompts
    threads: Threads = field(default_factory=Threads)

    async def __call__(self, query: Query) -> Answer:
        shared = self.options.agent
        end = time.monotonic() + shared.max_time
        with self.environments.of_case(shared.environment).open(shared.max_observation) as tools:
            run = AgentRun(query, self.model, tools)
            return await run_agent(run, lambda run: self._solve(run, tools, end), shared.max_time)

    async def _solve(self, run: AgentRun, environment: OpenEnvironment, end: float) -> str:
        messages = self.options.opening(run.query, environment.tools, self.sentences)
        for repairs in range(self.options.repairs, -1, -1):
            reply = await self._reply(run, messages, environment)
            result = await self._run(run, environment, code_in(reply), end)
            answer = None if result.error else answer_of(result)
            messages.append({"role": "assistant", "content": reply})
            if answer is not None:
                return await self._conclude(run, messages, answer) if self.options.concludes else answer
            problem = result.error or "the program set no answer"
            if repairs:
                messages.append(self.options.repair(run.query, result, problem))
        raise RunEnded("program_error", problem)

    async def _reply(self, run: AgentRun, messages: Sequence[Message], environment: OpenEnvironment) -> str:
        """Return the model's reply; "" if it sent an empty one."""
        query, steps = run.query, self.options.agent.max_steps
        uses = tuple(run.uses)
        turn = Turn("program", query.question, query.language, environment.tools, uses, query.passages, steps)
        try:
            return (await run.ask(tuple(messages), turn)).text
        except ModelError as error:
            if error.kind != "empty_reply":
                raise
            return ""

    async def _run(self, run: AgentRun, environment: OpenEnvironment, code: str, end: float) -> ProgramResult:
        """Run a program once and record it."""
        tools = ProgramTools(run, environment.tools)
        limits = Limits(total_seconds=max(end - time.monotonic(), 0.0) + GRACE)
        seed = next(iter(CASE_IDS.get()), "")
        with RecordedStep(PROGRAM, {"code": plain_text(code), "sandbox": self.sandbox.name}) as step:
            try:
                result = await self.threads.run(
                    lambda: self.sandbox.run(code, tools.functions, limits, variable=VARIABLE, seed=seed)
                )
            finally:
                tools.end()
        fields = {"value": plain_json(result.value), "printed": plain_text(result.printed), "error": result.error}
        step.detail.update({key: value for key, value in fields.items() if value not in (None, "")})
        return result

    async def _conclude(self, run: AgentRun, messages: Sequence[Message], value: str) -> str:
        """Ask the model to write the final answer from the value of its program; return it."""
        query = run.query
        turn = Turn("answer", query.question, query.language, passages=(Passage("value", value),))
        reply = await run.ask((*messages, self.options.conclusion(query, value)), turn)
        return reply.text.strip()


def _read(setup: SystemSetup) -> PalOptions:
    shared = read_agent_options(setup)
    repairs = setup.options.whole("repairs", 0, least=0)
    concludes = setup.options.choice("answer", "program", ("program", "model")) == "model"
    setup.options.finish()
    open_sandbox(setup.sandbox, NAME).close()  # a missing sandbox is an error before anything runs
    prompts = load_agent_prompts(Path(__file__).parent / "prompts" / NAME, _KEYS, shared.prompts)
    return PalOptions(shared, prompts, repairs, concludes, setup.sandbox)


def _build(parts: SystemParts, options: PalOptions) -> System:
    model = model_of(parts, NAME)
    sandbox = parts.sandbox(NAME) if parts.sandbox is not None else open_sandbox(parts.setup.sandbox, NAME)
    return Pal(model, parts.environments or Environments({}), sandbox, options, parts.prompts or load_prompts())


def _plan(options: PalOptions, query: Query, parts: SystemParts) -> PlannedRun:
    environments = parts.environments or Environments({})
    with environments.of_case(options.agent.environment).open() as tools:
        messages = options.opening(query, tools.tools, parts.prompts or load_prompts())
    calls = 1 + options.repairs + options.concludes
    return PlannedRun(messages, calls, exact=calls == 1)


build = Workflow(
    _read,
    _build,
    _plan,
    uses_environments=True,
    uses_embedded=True,
    retrieves=False,
    files=lambda options: options.agent.files,
)
