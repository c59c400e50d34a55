"""The agent ``dfsdt``: a model calls tools, and tries another decision if a branch fails.

Source: Qin et al., ToolLLM (ICLR 2024), https://arxiv.org/abs/2307.16789.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.environments.choice import Environments
from pytest_rageval.errors import SettingError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import ChatModel, Message
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.agents.decision_search import SearchLimits
from pytest_rageval.systems.agents.dfsdt_decisions import FINISH, DecisionMaker
from pytest_rageval.systems.agents.options import AgentOptions, read_agent_options
from pytest_rageval.systems.agents.prompts import AgentPrompts, load_agent_prompts
from pytest_rageval.systems.agents.run import AgentRun, run_agent
from pytest_rageval.systems.agents.tool_chat import PROMPT_KEYS, check_tool_names, opening, plan_of_run
from pytest_rageval.systems.llm import model_of
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.prompting import Prompts, load_prompts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.systems.workflow import PlannedRun, Workflow

__all__ = ["DFSDT", "DFSDTOptions", "workflow"]

NAME = "dfsdt"

_KEYS = {**PROMPT_KEYS, "go_on": (), "siblings": ("decisions",)}


@dataclass(frozen=True, slots=True)
class DFSDTOptions:
    """The options of ``dfsdt``: the shared options of agents, the limits of the search, and the prompts."""

    agent: AgentOptions
    limits: SearchLimits
    prompts: AgentPrompts

    def opening(self, query: Query, sentences: Prompts | None) -> tuple[Message, ...]:
        """Return the messages of the first request; ``sentences`` has the sentence that declines to answer."""
        values = (sentences or load_prompts()).sentences(query.language)
        return tuple(opening(query, self.prompts, self.agent.examples, **values))


@dataclass(frozen=True, slots=True)
class DFSDT:
    """Searches a model's decisions depth first, until one gives an answer."""

    model: ChatModel
    environments: Environments
    options: DFSDTOptions
    sentences: Prompts | None = None

    async def __call__(self, query: Query) -> Answer:
        shared = self.options.agent
        with self.environments.of_case(shared.environment).open(shared.max_observation) as tools:
            check_tool_names(tools.tools, FINISH, NAME)
            run = AgentRun(query, self.model, tools)
            maker = DecisionMaker(run, tools.tools, self.options.limits, self.options.prompts)
            first = self.options.opening(query, self.sentences)
            return await run_agent(run, lambda run: maker.solve(first), shared.max_time)


def _read(setup: SystemSetup) -> DFSDTOptions:
    options = setup.options
    if options.text("max_steps"):
        raise SettingError(f"{options.where} has max_steps; the limits of dfsdt are max_nodes and max_calls")
    shared = read_agent_options(setup)
    default = SearchLimits()
    limits = SearchLimits(
        options.whole("width", default.width),
        options.whole("max_nodes", default.max_nodes),
        options.whole("max_calls", default.max_calls),
        options.whole("answers", default.answers),
    )
    options.finish()
    return DFSDTOptions(
        shared, limits, load_agent_prompts(Path(__file__).parent / "prompts" / NAME, _KEYS, shared.prompts)
    )


def _build(parts: SystemParts, options: DFSDTOptions) -> System:
    return DFSDT(model_of(parts, NAME), parts.environments or Environments({}), options, parts.prompts)


def _plan(options: DFSDTOptions, query: Query, parts: SystemParts) -> PlannedRun:
    messages, limits = options.opening(query, parts.prompts), options.limits
    return plan_of_run(parts, options.agent, messages, limits.max_calls, [FINISH], turns=limits.max_nodes)


workflow = Workflow(
    _read,
    _build,
    _plan,
    uses_environments=True,
    uses_embedded=True,
    retrieves=False,
    files=lambda options: options.agent.files,
)
