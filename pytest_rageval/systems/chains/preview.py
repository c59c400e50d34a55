"""Preview the prompts of a chain without any call; show unknown values as ``<reply>``."""

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
from pytest_rageval.systems.chains.values import passages_value, scored_passage, value_text

__all__ = ["NO_OUTPUTS", "Evaluate", "Preview", "preview"]

NO_OUTPUTS: Mapping[str, Output] = MappingProxyType({})

Evaluate = Callable[[str, Mapping[str, Any]], ProgramResult]
"""(code, values) -> result; runs an expression in the sandbox."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The input of an action, as far as it is known.

    Attributes:
        action: the action.
        texts: (label, text); the label is the role of a message, or ``query``, ``text``, ``arguments``, ``value``.
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
    """Yield each action with its input; fill in all values that are known without a call.

    A variable that is not known yet becomes ``<reply>`` or ``<found.titles[0]>``, and its filters are not applied.
    Expressions run with these placeholders as values.

    Args:
        chain: the chain.
        query: the case's query.
        evaluate: runs an expression.
        uses_supplied: whether supplied passages replace a search; then the output of the search is known.
        outputs: action -> its output, if it is already known.
    """
    state = _PreviewState(query, evaluate)
    for action in chain.actions:
        texts, complete = state.texts(action)
        yield Preview(action, tuple(texts))
        text = "\n\n".join(each for _, each in texts)
        if action.name in outputs:
            state.add_output(action.name, outputs[action.name])
        elif isinstance(action, Retrieve) and uses_supplied and query.passages is not None:
            passages = tuple(map(scored_passage, query.passages))
            state.add_output(action.name, Output(text, passages_value(action, passages), passages))
        elif complete and isinstance(action, Fill | Compute):
            state.add_output(action.name, Output(text, Value((text,))))
        else:
            state.add_placeholder(action, text)


class _PreviewState:
    """The known outputs, and placeholders for the others."""

    def __init__(self, query: Query, evaluate: Evaluate) -> None:
        self._history = History(query)
        self._unknown: set[str] = set()
        self._evaluate = evaluate

    def add_output(self, name: str, output: Output) -> None:
        """Add the output of an action."""
        self._history.outputs[name] = output

    def add_placeholder(self, action: Action, prompt: str) -> None:
        """Add a placeholder for the output of an action."""
        name = action.name
        self._unknown.add(name)
        passage = ScoredPassage(f"<{name}.ids>", text=f"<{name}.texts>", title=f"<{name}.titles>")
        passages = (passage,) if isinstance(action, Retrieve) else ()
        self._history.outputs[name] = Output(prompt, Value((f"<{name}>",)), passages)

    def texts(self, action: Action) -> tuple[list[tuple[str, str]], bool]:
        """Return (label, text) for each text of an action, and whether all texts are complete."""
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
        return [(label, text) for label, (text, _) in sources], all(complete for _, (_, complete) in sources)

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
        unknown = self._unknown | ({*LISTS, OUTPUTS} if self._unknown else set())
        complete = unknown.isdisjoint(names)
        result = self._evaluate(code, self._history.values(names))
        text = f"<{result.error}>" if result.error else value_text(result.value)
        return text, complete and not result.error

    def _arguments(self, action: CallTool) -> tuple[str, bool]:
        complete: list[bool] = []

        def fill(value: Any) -> Any:
            if isinstance(value, Template):
                text, is_complete = self._template(value)
                complete.append(is_complete)
                return text
            if isinstance(value, Mapping):
                return {key: fill(each) for key, each in value.items()}
            return [fill(each) for each in value] if isinstance(value, tuple) else value

        return json.dumps(fill(action.arguments), ensure_ascii=False), all(complete)
