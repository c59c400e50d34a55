"""The state of a chain's run: the query of the case, and the outputs of earlier actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.model.case import Query
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.systems.chains.filters import Value
from pytest_rageval.systems.chains.references import LISTED, OUTPUTS
from pytest_rageval.systems.chains.template import Variable

__all__ = ["History", "Output"]


@dataclass(frozen=True, slots=True)
class Output:
    """The output of an action, with its input.

    Attributes:
        prompt: the input: a prompt, a query, arguments, or the text of a template or an expression.
        value: the text; for a search, the texts of the passages with their separator.
        passages: the passages of a search, best first.
    """

    prompt: str = ""
    value: Value = field(default_factory=lambda: Value(()))
    passages: tuple[ScoredPassage, ...] = ()

    @property
    def text(self) -> str:
        """The output as one text."""
        return self.value.text

    def passage_texts(self, name: str) -> tuple[str, ...]:
        """Return one text for each passage: ``ids``, ``titles``, ``texts`` or ``titles_and_ids``."""
        if name == "ids":
            return tuple(each.doc_id for each in self.passages)
        if name == "titles":
            return tuple(each.title for each in self.passages)
        if name == "texts":
            return tuple(each.text for each in self.passages)
        return tuple(f"{each.title}, {each.doc_id}" for each in self.passages)


@dataclass(slots=True)
class History:
    """The query and the outputs so far.

    Attributes:
        query: the case's query.
        outputs: action -> output, in order.
        notes: variables that name a passage which no search returned, since the last `take_notes`.
    """

    query: Query
    outputs: dict[str, Output] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def take_notes(self) -> list[str]:
        """Return the distinct notes, and clear them."""
        notes = list(dict.fromkeys(self.notes))
        self.notes.clear()
        return notes

    def value(self, variable: Variable) -> Value:
        """Return the value of a variable before its filters; `read_chain` has checked that it exists."""
        output = self.outputs.get(variable.name)
        if output is None:
            return self._case_value(variable.name)
        if not variable.field:
            return output.value
        if variable.field == "prompt":
            return Value((output.prompt,))
        return self._field_value(output, variable)

    def _field_value(self, output: Output, variable: Variable) -> Value:
        parts = output.passage_texts(variable.field)
        if variable.index is None:
            return Value(parts, "; ")
        if variable.index < len(parts):
            return Value((parts[variable.index],))
        self.notes.append(f"{{{variable.path}}} is empty: {len(parts)} found")
        return Value(())

    def _case_value(self, name: str) -> Value:
        query = self.query
        if name == "history":
            return Value(tuple(f"Question: {turn.question}\nAnswer: {turn.answer}" for turn in query.history), "\n\n")
        texts = {"question": query.question, "language": query.language, "instructions": query.instructions}
        return Value((texts.get(name, ""),))

    def values(self, names: Iterable[str]) -> Mapping[str, Any]:
        """Return the JSON values of names in an expression; an action's name takes precedence over a list's."""
        return {name: self._json_value(name) for name in names}

    def _json_value(self, name: str) -> Any:
        outputs = list(self.outputs.values())
        if name in self.outputs:
            return self.outputs[name].text
        if name == "history":
            return [{"question": turn.question, "answer": turn.answer} for turn in self.query.history]
        if name == "prompt":
            return [output.prompt for output in outputs]
        if name == "response":
            return [output.text for output in outputs]
        if name == "wiki_id_title":
            return ["; ".join(output.passage_texts("titles_and_ids")) for output in outputs]
        if name == OUTPUTS:
            return {action: _fields(output) for action, output in self.outputs.items()}
        return self._case_value(name).text


def _fields(output: Output) -> dict[str, Any]:
    passage_lists = {name: list(output.passage_texts(name)) for name in LISTED}
    return {"text": output.text, "prompt": output.prompt, **passage_lists}
