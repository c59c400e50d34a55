"""The agent ``dfsdt``: a model calls tools, and goes back to try another decision where a branch fails.

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
from pytest_rageval.systems.agents.tool_chat import PROMPT_KEYS, check_free, opening, planned
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
    """The options of ``dfsdt``: those of all agents, the limits of the search, and its texts."""

    agent: AgentOptions
    limits: SearchLimits
    prompts: AgentPrompts

    def opening(self, query: Query, sentences: Prompts | None) -> tuple[Message, ...]:
        """Return the messages of the first request; ``sentences`` has the one that declines to answer."""
        values = (sentences or load_prompts()).sentences(query.language)
        return tuple(opening(query, self.prompts, self.agent.examples, **values))


@dataclass(frozen=True, slots=True)
class DFSDT:
    """Searches depth first over what a model decides, until it gives an answer."""

    model: ChatModel
    environments: Environments
    options: DFSDTOptions
    sentences: Prompts | None = None

    async def __call__(self, query: Query) -> Answer:
        common = self.options.agent
        with self.environments.of_case(common.environment).open(common.max_observation) as tools:
            check_free(tools.tools, FINISH, NAME)
            run = AgentRun(query, self.model, tools)
            maker = DecisionMaker(run, tools.tools, self.options.limits, self.options.prompts)
            first = self.options.opening(query, self.sentences)
            return await run_agent(run, lambda run: maker.play(first), common.max_time)


def _read(setup: SystemSetup) -> DFSDTOptions:
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
    return DFSDTOptions(
        common, limits, load_agent_prompts(Path(__file__).parent / "prompts" / NAME, _KEYS, common.prompts)
    )


def _build(parts: SystemParts, options: DFSDTOptions) -> System:
    return DFSDT(model_of(parts, NAME), parts.environments or Environments({}), options, parts.prompts)


def _plan(options: DFSDTOptions, query: Query, parts: SystemParts) -> PlannedRun:
    messages, limits = options.opening(query, parts.prompts), options.limits
    return planned(parts, options.agent, messages, limits.max_calls, [FINISH], turns=limits.max_nodes)


workflow = Workflow(_read, _build, _plan, uses_environments=True, uses_embedded=True, retrieves=False)
