"""Run the actions of a chain for one case; record each as a step of the trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import CaseError
from pytest_rageval.model.case import Passage
from pytest_rageval.model.current import CASE_IDS
from pytest_rageval.model.plain import plain_text
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.systems.agents.run import AgentRun
from pytest_rageval.systems.chains.chain import (
    Action,
    CallTool,
    Chain,
    Compute,
    Expression,
    Generate,
    Retrieve,
    Source,
    sources_of,
)
from pytest_rageval.systems.chains.expressions import free_names
from pytest_rageval.systems.chains.filters import Value
from pytest_rageval.systems.chains.history import History, Output
from pytest_rageval.systems.chains.template import Template
from pytest_rageval.systems.chains.values import passages_value, scored_passage, value_text
from pytest_rageval.systems.embedded.turn import Turn
from pytest_rageval.systems.searching import AsyncSearch, SearchResult
from pytest_rageval.threads import Threads
from pytest_rageval.trace.collector import current_collector
from pytest_rageval.trace.passages import passage_detail
from pytest_rageval.trace.recording import RecordedStep
from pytest_rageval.trace.steps import PROGRAM, RETRIEVE, TEMPLATE, TOOL

if TYPE_CHECKING:
    from pytest_rageval.model.chat import ChatModel, Message
    from pytest_rageval.sandbox.protocol import ProgramResult, Sandbox

__all__ = ["ActionInput", "ChainResources", "ChainRun"]


@dataclass(frozen=True, slots=True)
class ChainResources:
    """The retrievers, models and sandbox that the actions of a chain use.

    Attributes:
        searches: name of a retriever -> its search; "" is the session's retriever.
        models: litellm name that an action sets -> its model.
        sandbox: runs expressions; None if the chain has no expression.
        top_k: number of passages of a search without ``k``.
        uses_supplied: whether supplied passages replace a search.
    """

    searches: Mapping[str, AsyncSearch] = field(default_factory=lambda: MappingProxyType({}))
    models: Mapping[str, ChatModel] = field(default_factory=lambda: MappingProxyType({}))
    sandbox: Sandbox | None = None
    top_k: int = 5
    uses_supplied: bool = True


@dataclass(frozen=True, slots=True)
class ActionInput:
    """The input of an action.

    Attributes:
        text: the prompt, the query, the text, the arguments or the expression.
        messages: the messages of a generate action.
        arguments: the arguments of a tool action.
    """

    text: str
    messages: tuple[Message, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class ChainRun:
    """One case's run of a chain.

    Attributes:
        chain: the chain.
        history: the query and the outputs so far.
        lacks_texts: whether the run ended early, because a prompt needs passages whose texts are unknown.
    """

    def __init__(self, chain: Chain, run: AgentRun, resources: ChainResources) -> None:
        self.chain = chain
        self.history = History(run.query)
        self.lacks_texts = False
        self._run = run
        self._resources = resources
        self._threads = Threads()

    async def run_actions(self, run: AgentRun) -> str:
        """Run all actions that have no output yet; return the answer's text, or "" if the chain only retrieves."""
        for action in self.chain.actions:
            if action.name in self.history.outputs:
                continue
            if isinstance(action, Generate) and self._reads_missing_texts(action):
                self.lacks_texts = True
                return ""
            await self.act(action)
        return "" if self.chain.answer is None else self._render_answer(self.chain.answer)

    def _render_answer(self, answer: Template) -> str:
        """Return the answer's text; record a step with notes if it names passages that no search returned."""
        text = answer.render(self.history.value)
        notes = self.history.take_notes()
        if notes:
            with RecordedStep(TEMPLATE, {"action": "output", "prompt": text, "text": text, "notes": notes}):
                pass
        return text

    @property
    def ranking(self) -> Ranking | None:
        """The distinct passages of the searches of the chain's ranking; None if supplied passages replaced them.

        Scores are kept only for a single search: scores of several searches are not comparable.
        """
        outputs = self.history.outputs
        if not self.chain.ranking or self._is_supplied:
            return None
        searches = [outputs[name] for name in self.chain.ranking if name in outputs]
        first: dict[str, ScoredPassage] = {}
        for output in searches:
            for passage in output.passages:
                first.setdefault(passage.doc_id, passage)
        if len(searches) < 2:
            return Ranking(tuple(first.values()))
        return Ranking(tuple(ScoredPassage(p.doc_id, None, p.text, p.title, p.page, p.span) for p in first.values()))

    async def prepare(self, action: Action) -> ActionInput:
        """Return the input of an action; run the expressions in it."""
        if isinstance(action, Generate):
            contents = [await self._render(message.content, action) for message in action.messages]
            pairs = zip(action.messages, contents, strict=True)
            messages = tuple({"role": each.role, "content": content} for each, content in pairs if content.strip())
            return ActionInput("\n\n".join(contents), messages or ({"role": "user", "content": contents[-1]},))
        if isinstance(action, CallTool):
            arguments = self._fill(dict(action.arguments))
            return ActionInput(json.dumps(arguments, ensure_ascii=False), arguments=arguments)
        if isinstance(action, Compute):
            return ActionInput(action.expression.code)
        return ActionInput(await self._render(sources_of(action)[0], action))

    async def act(self, action: Action) -> Output:
        """Run an action, add its output to the history and return it."""
        action_input = await self.prepare(action)
        if isinstance(action, Retrieve):
            output = await self._retrieve(action, action_input.text)
        elif isinstance(action, Generate):
            output = await self._generate(action, action_input)
        elif isinstance(action, CallTool):
            output = await self._call(action, action_input)
        elif isinstance(action, Compute):
            text = await self._compute(action.expression, action)
            output = Output(text, Value((text,)))
        else:
            output = Output(action_input.text, Value((action_input.text,)))
            with RecordedStep(TEMPLATE, self._detail(action, action_input.text)) as step:
                step.detail["text"] = action_input.text
        self.history.outputs[action.name] = output
        return output

    async def _retrieve(self, action: Retrieve, query: str) -> Output:
        detail = {"query": query, **self._detail(action, query)}
        with RecordedStep(RETRIEVE, detail) as step:
            if self._is_supplied:
                detail["supplied"] = True
                supplied = tuple(map(scored_passage, self.history.query.passages or ()))
                result = SearchResult(Ranking(supplied), 0.0)
            elif query.strip():
                result = await self._resources.searches[action.retriever].find(query, action.k or self._resources.top_k)
            else:
                detail["notes"] = [*detail.get("notes", ()), "the query is empty, so nothing was searched"]
                result = SearchResult(Ranking(), 0.0)
            passages = result.ranking.items
            output = Output(query, passages_value(action, passages), passages)
            detail["text"] = output.text
            if not self._is_supplied:
                detail["passages"] = [passage_detail(each) for each in passages]
            if result.retriever or action.retriever:
                detail["retriever"] = result.retriever or action.retriever
        if step.is_recorded:
            detail["seconds"] = result.seconds  # the time of the search itself, without the wait for a thread
            if result.seconds is None:
                del detail["seconds"]
        return output

    async def _generate(self, action: Generate, action_input: ActionInput) -> Output:
        query = self.history.query
        turn = Turn("answer", query.question, query.language, passages=self._passages())
        model = self._resources.models[action.model] if action.model else None
        detail = self._action_detail(action)
        reply = await self._run.ask_for_action(detail, action_input.messages, turn, model, action.params)
        return Output(action_input.text, Value((plain_text(reply.text),)))

    async def _call(self, action: CallTool, action_input: ActionInput) -> Output:
        collector = current_collector()
        before = 0 if collector is None else len(collector.events)
        observation = await self._run.call(action.tool, action_input.arguments)
        steps = [] if collector is None else collector.events[before:]
        for event in [event for event in steps if event.kind == TOOL][:1]:
            event.detail.update(self._detail(action, action_input.text), text=observation.text)
        return Output(action_input.text, Value((observation.text,)), observation.passages)

    async def _render(self, source: Source, action: Action) -> str:
        """Return the text of a template or the value of an expression."""
        if isinstance(source, Expression):
            return await self._compute(source, action)
        return source.render(self.history.value)

    async def _compute(self, expression: Expression, action: Action) -> str:
        """Run an expression and return its value as text; raise `CaseError` if it fails."""
        with RecordedStep(PROGRAM, {"code": expression.code, **self._detail(action, expression.code)}) as step:
            result = await self._evaluate(expression.code)
            step.detail.update(value=result.value, printed=result.printed)
            if result.error:
                problem = f"{action.where}: the expression of the action {action.name} raised {result.error}"
                raise CaseError("system_error", problem)
            text = value_text(result.value)
            step.detail["text"] = text
        return text

    async def _evaluate(self, code: str) -> ProgramResult:
        sandbox, values = self._resources.sandbox, self.history.values(free_names(code))
        if sandbox is None:
            raise RuntimeError("the chain has an expression and no sandbox")
        seed = next(iter(CASE_IDS.get()), "")
        return await self._threads.run(lambda: sandbox.run(code.strip(), values=values, seed=seed))

    def _fill(self, value: Any) -> Any:
        """Return a JSON value with its templates filled."""
        if isinstance(value, Template):
            return value.render(self.history.value)
        if isinstance(value, Mapping):
            return {key: self._fill(each) for key, each in value.items()}
        return [self._fill(each) for each in value] if isinstance(value, tuple | list) else value

    def _detail(self, action: Action, prompt: str) -> dict[str, Any]:
        """Return the values that every step of an action has."""
        return {**self._action_detail(action), "prompt": prompt}

    def _action_detail(self, action: Action) -> dict[str, Any]:
        notes = self.history.take_notes()
        return {"action": action.name, "notes": notes} if notes else {"action": action.name}

    @property
    def _is_supplied(self) -> bool:
        """Whether supplied passages replace the searches of this case."""
        return self._resources.uses_supplied and self.history.query.passages is not None

    def _passages(self) -> tuple[Passage, ...] | None:
        """Return the distinct passages retrieved so far; None before the first search."""
        searches = {each.name for each in self.chain.retrieves} & self.history.outputs.keys()
        if not searches:
            return None
        passages = (
            each for name, output in self.history.outputs.items() if name in searches for each in output.passages
        )
        first: dict[str, ScoredPassage] = {}
        for each in passages:
            first.setdefault(each.doc_id, each)
        return tuple(Passage(each.doc_id, each.text, each.title) for each in first.values() if each.text)

    def _reads_missing_texts(self, action: Generate) -> bool:
        """Return whether a prompt reads the text of a search whose passages have no text."""
        for source in sources_of(action):
            for variable in () if isinstance(source, Expression) else source.variables:
                output = self.history.outputs.get(variable.name)
                if output is not None and variable.field in ("", "texts") and _has_no_text(output):
                    return True
        return False


def _has_no_text(output: Output) -> bool:
    return len(output.passages) > 0 and not output.text.strip() and not any(each.text for each in output.passages)
