"""What a chain knows when an action runs: the case's query, and the outputs of the actions before it."""

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
    """What an action gave.

    Attributes:
        prompt: what it was given: the prompt, the query, the arguments; the text of a template or an expression.
        value: its text; of a search its passages with what joins them.
        passages: what a search found, best first.
    """

    prompt: str = ""
    value: Value = field(default_factory=lambda: Value(()))
    passages: tuple[ScoredPassage, ...] = ()

    @property
    def text(self) -> str:
        """The output as one text."""
        return self.value.text

    def listed(self, name: str) -> tuple[str, ...]:
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
        notes: what variables asked for and no search found, since `take_notes`.
    """

    query: Query
    outputs: dict[str, Output] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def take_notes(self) -> list[str]:
        """Return the notes, each once, and forget them."""
        notes = list(dict.fromkeys(self.notes))
        self.notes.clear()
        return notes

    def value(self, variable: Variable) -> Value:
        """Return the value of a variable, before its filters; the chain's reader has checked it."""
        output = self.outputs.get(variable.name)
        if output is None:
            return self._of_case(variable.name)
        if not variable.field:
            return output.value
        if variable.field == "prompt":
            return Value((output.prompt,))
        return self._listed(output, variable)

    def _listed(self, output: Output, variable: Variable) -> Value:
        parts = output.listed(variable.field)
        if variable.index is None:
            return Value(parts, "; ")
        if variable.index < len(parts):
            return Value((parts[variable.index],))
        self.notes.append(f"{{{variable.path}}} is empty: {len(parts)} found")
        return Value(())

    def _of_case(self, name: str) -> Value:
        query = self.query
        if name == "history":
            return Value(tuple(f"Question: {turn.question}\nAnswer: {turn.answer}" for turn in query.history), "\n\n")
        texts = {"question": query.question, "language": query.language, "instructions": query.instructions}
        return Value((texts.get(name, ""),))

    def values(self, names: Iterable[str]) -> Mapping[str, Any]:
        """Return the JSON values that an expression reads; an action's output has priority over a list."""
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
            return ["; ".join(output.listed("titles_and_ids")) for output in outputs]
        if name == OUTPUTS:
            return {action: _fields(output) for action, output in self.outputs.items()}
        return self._of_case(name).text


def _fields(output: Output) -> dict[str, Any]:
    listed = {name: list(output.listed(name)) for name in LISTED}
    return {"text": output.text, "prompt": output.prompt, **listed}
