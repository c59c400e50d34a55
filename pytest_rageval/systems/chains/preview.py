"""Fill in what the prompts of a chain have before anything is asked; the rest is shown as ``<reply>``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pytest_rageval.model.case import Query
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.sandbox.protocol import ProgramResult
from pytest_rageval.systems.chains.chain import Action, CallTool, Chain, Compute, Expression, Fill, Generate, Retrieve
from pytest_rageval.systems.chains.expressions import LISTS, free_names
from pytest_rageval.systems.chains.filters import Value
from pytest_rageval.systems.chains.history import History, Output
from pytest_rageval.systems.chains.references import OUTPUTS
from pytest_rageval.systems.chains.template import Template, Variable
from pytest_rageval.systems.chains.values import as_scored, passages_value, value_text

__all__ = ["NO_OUTPUTS", "Evaluate", "Preview", "preview"]

NO_OUTPUTS: Mapping[str, Output] = MappingProxyType({})

Evaluate = Callable[[str, Mapping[str, Any]], ProgramResult]
"""Runs an expression with its values in the sandbox."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an action would be given.

    Attributes:
        action: the action.
        texts: (what it is, text): the role of each message, or ``query``, ``text``, ``arguments``, ``value``.
    """

    action: Action
    texts: tuple[tuple[str, str], ...]


def preview(
    chain: Chain,
    query: Query,
    evaluate: Evaluate,
    *,
    uses_supplied: bool = True,
    outputs: Mapping[str, Output] = NO_OUTPUTS,
) -> Iterator[Preview]:
    """Yield each action with its texts filled in as far as nothing has to be asked.

    A variable that is not known yet is shown as ``<reply>`` or ``<found.titles[0]>``, without its filters. Expressions
    run on the same placeholders.

    Args:
        chain: the chain.
        query: the case's query.
        evaluate: runs an expression.
        uses_supplied: whether supplied passages stand for what a search finds; then its output is known.
        outputs: action -> its output, where it is known already.
    """
    filled = _Filled(query, evaluate)
    for action in chain.actions:
        texts, complete = filled.texts(action)
        yield Preview(action, tuple(texts))
        text = "\n\n".join(each for _, each in texts)
        if action.name in outputs:
            filled.know(action.name, outputs[action.name])
        elif isinstance(action, Retrieve) and uses_supplied and query.passages is not None:
            passages = tuple(map(as_scored, query.passages))
            filled.know(action.name, Output(text, passages_value(action, passages), passages))
        elif complete and isinstance(action, Fill | Compute):
            filled.know(action.name, Output(text, Value((text,))))
        else:
            filled.miss(action, text)


class _Filled:
    """The texts that are known so far, and placeholders for the others."""

    def __init__(self, query: Query, evaluate: Evaluate) -> None:
        self._history = History(query)
        self._unknown: set[str] = set()
        self._evaluate = evaluate

    def know(self, name: str, output: Output) -> None:
        """Add the output of an action."""
        self._history.outputs[name] = output

    def miss(self, action: Action, prompt: str) -> None:
        """Add a placeholder for the output of an action."""
        name = action.name
        self._unknown.add(name)
        passage = ScoredPassage(f"<{name}.ids>", text=f"<{name}.texts>", title=f"<{name}.titles>")
        passages = (passage,) if isinstance(action, Retrieve) else ()
        self._history.outputs[name] = Output(prompt, Value((f"<{name}>",)), passages)

    def texts(self, action: Action) -> tuple[list[tuple[str, str]], bool]:
        """Return the texts of an action, each with what it is, and whether all of them are complete."""
        if isinstance(action, Generate):
            sources = [(message.role, self._source(message.content)) for message in action.messages]
        elif isinstance(action, Retrieve):
            sources = [("query", self._source(action.query))]
        elif isinstance(action, Fill):
            sources = [("text", self._source(action.text))]
        elif isinstance(action, CallTool):
            sources = [("arguments", self._arguments(action))]
        else:
            sources = [("value", self._source(action.expression))]
        return [(what, text) for what, (text, _) in sources], all(complete for _, (_, complete) in sources)

    def _source(self, source: Template | Expression) -> tuple[str, bool]:
        return self._expression(source.code) if isinstance(source, Expression) else self._template(source)

    def _template(self, template: Template) -> tuple[str, bool]:
        unknown = [each for each in template.variables if self._is_unknown(each)]
        parts = (
            f"<{piece.path}>"
            if isinstance(piece, Variable) and piece in unknown
            else Template(template.source, (piece,)).render(self._history.value)
            for piece in template.pieces
        )
        return "".join(parts), not unknown

    def _is_unknown(self, variable: Variable) -> bool:
        return variable.name in self._unknown and variable.field != "prompt"

    def _expression(self, code: str) -> tuple[str, bool]:
        names = free_names(code)
        waits = self._unknown | ({*LISTS, OUTPUTS} if self._unknown else set())
        complete = waits.isdisjoint(names)
        ran = self._evaluate(code, self._history.values(names))
        return f"<{ran.error}>" if ran.error else value_text(ran.value), complete and not ran.error

    def _arguments(self, action: CallTool) -> tuple[str, bool]:
        complete: list[bool] = []

        def filled(value: Any) -> Any:
            if isinstance(value, Template):
                text, known = self._template(value)
                complete.append(known)
                return text
            if isinstance(value, Mapping):
                return {key: filled(each) for key, each in value.items()}
            return [filled(each) for each in value] if isinstance(value, tuple) else value

        return json.dumps(filled(action.arguments), ensure_ascii=False), all(complete)
