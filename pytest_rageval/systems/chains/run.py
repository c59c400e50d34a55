"""Run the actions of a chain for one case. Each is a step of the case's trace."""

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
from pytest_rageval.systems.chains.values import as_scored, passages_value, value_text
from pytest_rageval.systems.embedded.turn import Turn
from pytest_rageval.systems.searching import AsyncSearch, Found
from pytest_rageval.threads import Threads
from pytest_rageval.trace.collector import current_collector
from pytest_rageval.trace.passages import passage_detail
from pytest_rageval.trace.recording import RecordedStep
from pytest_rageval.trace.steps import PROGRAM, RETRIEVE, TEMPLATE, TOOL

if TYPE_CHECKING:
    from pytest_rageval.model.chat import ChatModel, Message
    from pytest_rageval.sandbox.protocol import ProgramResult, Sandbox

__all__ = ["ChainMeans", "ChainRun", "Prepared"]


@dataclass(frozen=True, slots=True)
class ChainMeans:
    """What the actions of a chain use.

    Attributes:
        searches: name of a retriever -> its search; "" is the session's.
        models: litellm name of a model of an action -> the model.
        sandbox: runs expressions; None if the chain has none.
        top_k: passages of a search without ``k``.
        uses_supplied: whether supplied passages stand for what a search finds.
    """

    searches: Mapping[str, AsyncSearch] = field(default_factory=lambda: MappingProxyType({}))
    models: Mapping[str, ChatModel] = field(default_factory=lambda: MappingProxyType({}))
    sandbox: Sandbox | None = None
    top_k: int = 5
    uses_supplied: bool = True


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an action is given, before it runs.

    Attributes:
        text: the prompt, the query, the text, the arguments or the expression.
        messages: of a generate action.
        arguments: of a tool action.
    """

    text: str
    messages: tuple[Message, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class ChainRun:
    """One case's run of a chain.

    Attributes:
        chain: the chain.
        history: the query and the outputs so far.
        lacks_texts: whether the run ended because a prompt needs passages whose texts are unknown.
    """

    def __init__(self, chain: Chain, run: AgentRun, means: ChainMeans) -> None:
        self.chain = chain
        self.history = History(run.query)
        self.lacks_texts = False
        self._run = run
        self._means = means
        self._threads = Threads()

    async def play(self, run: AgentRun) -> str:
        """Run all actions without an output and return the answer's text; "" if the chain only retrieves."""
        for action in self.chain.actions:
            if action.name in self.history.outputs:
                continue
            if isinstance(action, Generate) and self._reads_missing_texts(action):
                self.lacks_texts = True
                return ""
            await self.act(action)
        return "" if self.chain.answer is None else self._rendered(self.chain.answer)

    def _rendered(self, answer: Template) -> str:
        """Return the answer's text; what it asks for and no search found is noted in a step of its own."""
        text = answer.render(self.history.value)
        notes = self.history.take_notes()
        if notes:
            with RecordedStep(TEMPLATE, {"action": "output", "prompt": text, "text": text, "notes": notes}):
                pass
        return text

    @property
    def ranking(self) -> Ranking | None:
        """What the searches of the chain's ranking found, each passage once; None if none searched.

        Scores stay only if one search found all passages: those of several searches are not comparable.
        """
        outputs = self.history.outputs
        if not self.chain.ranking or self._is_supplied:
            return None
        ran = [outputs[name] for name in self.chain.ranking if name in outputs]
        first: dict[str, ScoredPassage] = {}
        for output in ran:
            for passage in output.passages:
                first.setdefault(passage.doc_id, passage)
        if len(ran) < 2:
            return Ranking(tuple(first.values()))
        return Ranking(tuple(ScoredPassage(p.doc_id, None, p.text, p.title, p.page, p.span) for p in first.values()))

    async def prepare(self, action: Action) -> Prepared:
        """Return what an action is given; expressions run."""
        if isinstance(action, Generate):
            contents = [await self._made(message.content, action) for message in action.messages]
            pairs = zip(action.messages, contents, strict=True)
            messages = tuple({"role": each.role, "content": content} for each, content in pairs if content.strip())
            return Prepared("\n\n".join(contents), messages or ({"role": "user", "content": contents[-1]},))
        if isinstance(action, CallTool):
            arguments = self._filled(dict(action.arguments))
            return Prepared(json.dumps(arguments, ensure_ascii=False), arguments=arguments)
        if isinstance(action, Compute):
            return Prepared(action.expression.code)
        return Prepared(await self._made(sources_of(action)[0], action))

    async def act(self, action: Action) -> Output:
        """Run an action, add its output to the history and return it."""
        prepared = await self.prepare(action)
        if isinstance(action, Retrieve):
            output = await self._retrieve(action, prepared.text)
        elif isinstance(action, Generate):
            output = await self._generate(action, prepared)
        elif isinstance(action, CallTool):
            output = await self._call(action, prepared)
        elif isinstance(action, Compute):
            text = await self._computed(action.expression, action)
            output = Output(text, Value((text,)))
        else:
            output = Output(prepared.text, Value((prepared.text,)))
            with RecordedStep(TEMPLATE, self._detail(action, prepared.text)) as step:
                step.detail["text"] = prepared.text
        self.history.outputs[action.name] = output
        return output

    async def _retrieve(self, action: Retrieve, query: str) -> Output:
        detail = {"query": query, **self._detail(action, query)}
        with RecordedStep(RETRIEVE, detail) as step:
            if self._is_supplied:
                detail["supplied"] = True
                found = Found(Ranking(tuple(as_scored(each) for each in self.history.query.passages or ())), 0.0)
            elif query.strip():
                found = await self._means.searches[action.retriever].find(query, action.k or self._means.top_k)
            else:
                detail["notes"] = [*detail.get("notes", ()), "the query is empty, so nothing was searched"]
                found = Found(Ranking(), 0.0)
            passages = found.ranking.items
            output = Output(query, passages_value(action, passages), passages)
            detail["text"] = output.text
            if not self._is_supplied:
                detail["passages"] = [passage_detail(each) for each in passages]
            if found.retriever or action.retriever:
                detail["retriever"] = found.retriever or action.retriever
        if step.is_recorded:
            detail["seconds"] = found.seconds  # without waiting for a thread
            if found.seconds is None:
                del detail["seconds"]
        return output

    async def _generate(self, action: Generate, prepared: Prepared) -> Output:
        query = self.history.query
        turn = Turn("answer", query.question, query.language, passages=self._passages())
        model = self._means.models[action.model] if action.model else None
        reply = await self._run.ask_for_action(self._noted(action), prepared.messages, turn, model, action.params)
        return Output(prepared.text, Value((plain_text(reply.text),)))

    async def _call(self, action: CallTool, prepared: Prepared) -> Output:
        collector = current_collector()
        before = 0 if collector is None else len(collector.events)
        observation = await self._run.call(action.tool, prepared.arguments)
        steps = [] if collector is None else collector.events[before:]
        for event in [event for event in steps if event.kind == TOOL][:1]:
            event.detail.update(self._detail(action, prepared.text), text=observation.text)
        return Output(prepared.text, Value((observation.text,)), observation.passages)

    async def _made(self, source: Source, action: Action) -> str:
        """Return what a template or an expression makes of the history."""
        if isinstance(source, Expression):
            return await self._computed(source, action)
        return source.render(self.history.value)

    async def _computed(self, expression: Expression, action: Action) -> str:
        """Return the value of an expression as text; raise `CaseError` if it raised."""
        with RecordedStep(PROGRAM, {"code": expression.code, **self._detail(action, expression.code)}) as step:
            ran = await self._ran(expression.code)
            step.detail.update(value=ran.value, printed=ran.printed)
            if ran.error:
                problem = f"{action.where}: the expression of the action {action.name} raised {ran.error}"
                raise CaseError("system_error", problem)
            text = value_text(ran.value)
            step.detail["text"] = text
        return text

    async def _ran(self, code: str) -> ProgramResult:
        sandbox, values = self._means.sandbox, self.history.values(free_names(code))
        if sandbox is None:
            raise RuntimeError("the chain has an expression and no sandbox")
        seed = next(iter(CASE_IDS.get()), "")
        return await self._threads.run(lambda: sandbox.run(code.strip(), values=values, seed=seed))

    def _filled(self, value: Any) -> Any:
        """Return a JSON value with its templates filled."""
        if isinstance(value, Template):
            return value.render(self.history.value)
        if isinstance(value, Mapping):
            return {key: self._filled(each) for key, each in value.items()}
        return [self._filled(each) for each in value] if isinstance(value, tuple | list) else value

    def _detail(self, action: Action, prompt: str) -> dict[str, Any]:
        """Return what the steps of all actions have."""
        return {**self._noted(action), "prompt": prompt}

    def _noted(self, action: Action) -> dict[str, Any]:
        notes = self.history.take_notes()
        return {"action": action.name, "notes": notes} if notes else {"action": action.name}

    @property
    def _is_supplied(self) -> bool:
        """Whether supplied passages stand for what a search finds."""
        return self._means.uses_supplied and self.history.query.passages is not None

    def _passages(self) -> tuple[Passage, ...] | None:
        """Return what was retrieved so far, each passage once; None if nothing searched."""
        searches = {each.name for each in self.chain.retrieves} & self.history.outputs.keys()
        if not searches:
            return None
        found = (each for name, output in self.history.outputs.items() if name in searches for each in output.passages)
        first: dict[str, ScoredPassage] = {}
        for each in found:
            first.setdefault(each.doc_id, each)
        return tuple(Passage(each.doc_id, each.text, each.title) for each in first.values() if each.text)

    def _reads_missing_texts(self, action: Generate) -> bool:
        """Return whether a prompt reads the text of a search that found passages and no text."""
        for source in sources_of(action):
            for variable in () if isinstance(source, Expression) else source.variables:
                output = self.history.outputs.get(variable.name)
                if output is not None and variable.field in ("", "texts") and _has_no_text(output):
                    return True
        return False


def _has_no_text(output: Output) -> bool:
    return len(output.passages) > 0 and not output.text.strip() and not any(each.text for each in output.passages)
