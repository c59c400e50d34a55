"""The system ``chain:FILE.toml``: runs a chain of actions for each case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_rageval.environments.environment import MAX_OBSERVATION
from pytest_rageval.errors import SettingError
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.case import Query
from pytest_rageval.sandbox import open_sandbox
from pytest_rageval.systems.agents.run import AgentRun, run_agent
from pytest_rageval.systems.chains.chain import Chain, Expression, Generate, RetrieverSource
from pytest_rageval.systems.chains.chain_file import read_chain
from pytest_rageval.systems.chains.find_chain import chain_file, chain_name
from pytest_rageval.systems.chains.history import History, Output
from pytest_rageval.systems.chains.run import ChainResources, ChainRun
from pytest_rageval.systems.embedded.model import EmbeddedModel
from pytest_rageval.systems.llm import model_of
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.searching import AsyncSearch
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.systems.workflow import NO_CALLS, AnyWorkflow, PlannedRun, Requirements, Workflow

if TYPE_CHECKING:
    from pytest_rageval.environments.choice import Environments
    from pytest_rageval.model.chat import ChatModel, Message

__all__ = ["ChainOptions", "ChainSystem", "build", "family", "read", "resources_of"]


@dataclass(frozen=True, slots=True)
class ChainOptions:
    """The options of a chain.

    Attributes:
        chain: the chain of the file.
        path: its file.
        environment: the environment of its tools; "" for the environment of the case, or for the only one.
        max_time: maximum duration of a run, in seconds.
        max_observation: maximum length of a tool's result, in characters.
        uses_supplied: whether supplied passages replace a search.
    """

    chain: Chain
    path: Path
    environment: str = ""
    max_time: float = 120.0
    max_observation: int = MAX_OBSERVATION
    uses_supplied: bool = True


def family(name: str, head: str, get: object) -> AnyWorkflow:
    """Return the system of a name such as ``chain:FILE.toml``; its file is read with its options.

    Raises:
        SettingError: the name has no file.
    """
    mark, argument = name[len(head) : len(head) + 1], name[len(head) + 1 :]
    if mark != ":" or not argument.strip():
        raise SettingError(f"{name} names no chain; write {head}:FILE.toml")
    return Workflow(read, build, plan=_plan, uses_embedded=True, needs=_needs, files=_files, facet=chain_name(argument))


def read(setup: SystemSetup) -> ChainOptions:
    """Read the chain's file and its options, and check that a sandbox for its expressions is available.

    Raises:
        RagEvalError: the file or an option is missing or invalid, or the sandbox is missing.
    """
    options = setup.options
    path, file_name = chain_file(setup)
    chain = read_chain(path, file_name)
    chain_options = ChainOptions(
        chain,
        path,
        environment=options.text("environment"),
        max_time=options.seconds("max_time", 120.0),
        max_observation=options.whole("max_observation", MAX_OBSERVATION),
        uses_supplied=options.choice("supplied", "use", ("use", "ignore")) == "use",
    )
    options.finish()
    if chain.expressions:
        open_sandbox(setup.sandbox, f"chain:{setup.argument}").close()
    return chain_options


def build(parts: SystemParts, options: ChainOptions) -> ChainSystem:
    """Return the system; raise `SettingError` if an action needs a model and there is none."""
    chain = options.chain
    model: ChatModel = EmbeddedModel() if "" not in chain.models else model_of(parts, f"chain:{parts.setup.argument}")
    return ChainSystem(options, model, resources_of(parts, options), parts.environments if chain.tools else None)


def resources_of(parts: SystemParts, options: ChainOptions) -> ChainResources:
    """Return the retrievers, models and sandbox that the actions of a chain use."""
    chain = options.chain
    names = dict.fromkeys(action.retriever for action in chain.retrieves)
    searches: dict[str, AsyncSearch] = {"": AsyncSearch(parts.retriever)}
    if parts.retrievers is not None:
        sources = {name: chain.retrievers.get(name) or RetrieverSource("", name) for name in names if name}
        searches |= {name: AsyncSearch(parts.retrievers(each.kind, each.params)) for name, each in sources.items()}
    return ChainResources(
        searches=searches,
        models={name: parts.models(name) for name in chain.models if name and parts.models is not None},
        sandbox=parts.sandbox(f"chain:{parts.setup.argument}") if chain.expressions and parts.sandbox else None,
        top_k=parts.top_k,
        uses_supplied=options.uses_supplied,
    )


@dataclass(frozen=True, slots=True)
class ChainSystem:
    """Runs a chain for each case.

    Attributes:
        options: the chain and its options.
        model: the model of actions that name no model.
        resources: the retrievers, models and sandbox of the actions.
        environments: the tools; None if the chain calls none.
        outputs: action -> its output; these actions do not run.
    """

    options: ChainOptions
    model: ChatModel
    resources: ChainResources
    environments: Environments | None = None
    outputs: Mapping[str, Output] = field(default_factory=lambda: MappingProxyType({}))

    async def __call__(self, query: Query) -> Answer:
        """Return the answer of a case; only a ranking if the chain only retrieves."""
        if self.environments is None:
            return await self._answer(AgentRun(query, self.model))
        environment = self.environments.of_case(self.options.environment)
        with environment.open(self.options.max_observation) as tools:
            return await self._answer(AgentRun(query, self.model, tools))

    async def _answer(self, run: AgentRun) -> Answer:
        chain = self.options.chain
        chain_run = ChainRun(chain, run, self.resources)
        chain_run.history.outputs.update(self.outputs)
        answer = await run_agent(run, chain_run.run_actions, self.options.max_time)
        usage = answer.usage
        if not chain.models and usage is not None:  # no model was asked, so its cost is 0
            usage = Usage(0, 0, 0.0, usage.latency_s)
        generated = chain.answer is not None and not chain_run.lacks_texts
        return replace(answer, ranking=chain_run.ranking, usage=usage, generated=generated)


def _needs(options: ChainOptions) -> Requirements:
    chain = options.chain
    by_kind = [action for action in chain.retrieves if action.retriever and action.retriever not in chain.retrievers]
    retriever_names = {action.retriever for action in chain.retrieves}
    sources = [each for name, each in chain.retrievers.items() if name in retriever_names]
    retrievers = [(each.where, each.kind, each.params) for each in sources]
    return Requirements(
        models=tuple(filter(None, chain.models)),
        calls_model="" in chain.models,
        retrieves=any(not action.retriever for action in chain.retrieves),
        retrievers=(*retrievers, *((action.where, action.retriever, {}) for action in by_kind)),
        tools=tuple((action.where, action.tool) for action in chain.tools),
    )


def _files(options: ChainOptions) -> tuple[Path, ...]:
    return (options.path,)


def _plan(options: ChainOptions, query: Query, parts: SystemParts) -> PlannedRun:
    """Return the model calls of a case: the exact number, and the first prompt as far as it is known."""
    generates = [action for action in options.chain.actions if isinstance(action, Generate)]
    if not generates:
        return NO_CALLS
    messages, is_final = _first_prompt(options.chain, generates[0], query)
    calls = [(action.model, action.params.get("max_tokens")) for action in generates]
    documents = sum(action.k or parts.top_k for action in options.chain.retrieves)
    return PlannedRun(messages, len(calls), True, is_final, dict(generates[0].params), calls, documents=documents)


def _first_prompt(chain: Chain, action: Generate, query: Query) -> tuple[tuple[Message, ...], bool]:
    """Return the messages of the first request, and whether they are final: they lack the outputs of actions."""
    history, names = History(query), {each.name for each in chain.actions}
    messages, is_final = [], True
    for message in action.messages:
        source: Any = message.content
        if isinstance(source, Expression):
            is_final = False
            continue
        is_final = is_final and not any(variable.name in names for variable in source.variables)
        messages.append({"role": message.role, "content": source.render(history.value)})
    return tuple(messages), is_final
