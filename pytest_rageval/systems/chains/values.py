"""Convert passages and values of expressions to the outputs of actions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pytest_rageval.model.case import Passage
from pytest_rageval.model.plain import plain_text
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.systems.chains.chain import Retrieve
from pytest_rageval.systems.chains.filters import Value
from pytest_rageval.systems.chains.template import Template, Variable

__all__ = ["passages_value", "scored_passage", "value_text"]


def scored_passage(passage: Passage) -> ScoredPassage:
    """Convert a supplied passage to a search result without a score."""
    return ScoredPassage(passage.id, None, passage.text, passage.title)


def passages_value(action: Retrieve, passages: Sequence[ScoredPassage]) -> Value:
    """Return the texts of the passages, with their separator."""
    return Value(tuple(_passage_text(action.passage, at, each) for at, each in enumerate(passages, 1)), action.join)


def _passage_text(template: Template, number: int, passage: ScoredPassage) -> str:
    """Return the text of one passage."""
    values = {"id": passage.doc_id, "title": passage.title, "text": passage.text, "number": str(number)}

    def value_of(variable: Variable) -> Value:
        return Value((values[variable.name],))

    return template.render(value_of)


def value_text(value: Any) -> str:
    """Return the value of an expression as text: a text as it is, None as "", any other value as JSON."""
    if value is None:
        return ""
    return plain_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
