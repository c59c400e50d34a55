"""What the model ``embedded`` does next: search, look up a word, then finish. It knows no domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_rageval.environments.tool import Tool
from pytest_rageval.model.case import Passage, Query
from pytest_rageval.systems.embedded.names import names_in
from pytest_rageval.systems.embedded.turn import ToolUse, Turn
from pytest_rageval.systems.extractive import extractive
from pytest_rageval.systems.question import content_terms, terms
from pytest_rageval.text.words import words

__all__ = ["Move", "next_move"]

PER_PAGE = 4
"""The most searches that one page suggests."""


@dataclass(frozen=True, slots=True)
class Move:
    """A call of a tool with one text, or the answer.

    Attributes:
        thought: why, in one sentence.
        text: the argument, or the answer.
        tool: the tool's name; "" for the answer.
        parameter: the name of the argument.
        is_first: whether it is the tool's first parameter.
    """

    thought: str
    text: str
    tool: str = ""
    parameter: str = ""
    is_first: bool = True


def next_move(turn: Turn) -> Move:
    """Return the next move of a run.

    It searches the names in the question, longest first, then those in the passages that it found, and makes at most
    ``max_steps`` - 1 calls. Then it looks up the question's rarest word, and answers from what it saw with the embedded
    reader. The first tool that takes one text is its search, the second one its lookup.
    """
    usable = [(tool, name) for tool in turn.tools if (name := _text_parameter(tool))]
    if usable and len(turn.uses) < turn.max_steps - 1:
        tool, parameter = usable[0]
        name = next(_unsearched(turn, tool.name, parameter), "")
        if name:
            return _call(f"I search {name}.", name, tool, parameter)
        for tool, parameter in usable[1:2]:
            word = "" if any(use.name == tool.name for use in turn.uses) else _rarest_word(turn)
            if word:
                return _call(f"I look up {word}.", word, tool, parameter)
    return Move("I answer from what I saw.", _answer(turn))


def _call(thought: str, text: str, tool: Tool, parameter: str) -> Move:
    return Move(thought, text, tool.name, parameter, parameter == next(iter(tool.parameters["properties"])))


def _text_parameter(tool: Tool) -> str:
    """Return the first parameter that is a text, if a call needs no other one; "" if there is none."""
    properties = tool.parameters.get("properties") or {}
    for name, schema in properties.items():
        kind = schema.get("type") if isinstance(schema, dict) else None
        if kind == "string" or (isinstance(kind, list) and "string" in kind):
            return str(name) if set(tool.parameters.get("required", ())) <= {name} else ""
    return ""


def _unsearched(turn: Turn, tool: str, parameter: str) -> Iterator[str]:
    """Yield what may be searched next, in order; each text once, whatever its case."""
    searches = [use for use in turn.uses if use.name == tool]
    seen = [_argument(use, parameter).casefold() for use in searches]
    for name in _of_question(turn.question):
        if name.casefold() not in seen:
            yield name
    seen += [passage.title.casefold() for use in searches for passage in use.observation.passages]
    for use in searches:
        for name in _of_pages(use):
            if not any(name.casefold() in each for each in seen):
                yield name


def _of_question(question: str) -> list[str]:
    """Return the names in a question, longest first; its content words if it has none."""
    names = names_in(question)
    if not names:
        content = set(content_terms(question))
        names = [word for word in dict.fromkeys(words(question)) if content.intersection(terms(word))]
    return sorted(names, key=len, reverse=True)


def _of_pages(use: ToolUse) -> list[str]:
    """Return the first names in each passage that a search showed, without those in its title."""
    pages = [(page.title.casefold(), names_in(page.text)) for page in use.observation.passages]
    return [name for title, names in pages for name in [n for n in names if n.casefold() not in title][:PER_PAGE]]


def _rarest_word(turn: Turn) -> str:
    """Return the content word of the question that is rarest in what the tools showed, the longest of these."""
    shown = Counter(term for use in turn.uses for term in terms(use.observation.text))
    content = set(content_terms(turn.question))
    candidates = [word for word in dict.fromkeys(words(turn.question)) if content.intersection(terms(word))]
    known = [word for word in candidates if any(shown[term] for term in terms(word))]
    return min(known or candidates, key=lambda word: (sum(shown[t] for t in terms(word)), -len(word)), default="")


def _answer(turn: Turn) -> str:
    """Return what the embedded reader answers from the supplied passages and from what the tools showed."""
    passages = list(turn.passages or ())
    for number, use in enumerate(turn.uses):
        seen = use.observation
        if seen.passages:
            passages += [Passage(f"{number}-{each.doc_id}", each.text, each.title) for each in seen.passages]
        elif seen.error is None and not seen.invalid and seen.found is not False:
            passages.append(Passage(str(number), seen.text))
    distinct = {(passage.title, passage.text): passage for passage in passages}
    return extractive(Query(turn.question, tuple(distinct.values()), (), turn.language, "")).text


def _argument(use: ToolUse, parameter: str) -> str:
    return use.arguments if isinstance(use.arguments, str) else str(use.arguments.get(parameter, ""))
