"""Choose the next move of the model ``embedded``: search, look up a word, or answer."""

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

NAMES_PER_PASSAGE = 4
"""Maximum number of names from one passage that are searched."""


@dataclass(frozen=True, slots=True)
class Move:
    """A call of a tool with one text, or the answer.

    Attributes:
        thought: the reason, in one sentence.
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

    First, search the names in the question, longest first; then the names in the passages that these searches returned.
    Then look up the question's rarest word. Last, answer with `extractive` from all results. There are at most
    ``max_steps`` - 1 calls. The first tool that takes one text is the search tool, the second one is the lookup tool.
    """
    text_tools = [(tool, name) for tool in turn.tools if (name := _text_parameter(tool))]
    if text_tools and len(turn.uses) < turn.max_steps - 1:
        tool, parameter = text_tools[0]
        name = next(_next_searches(turn, tool.name, parameter), "")
        if name:
            return _call(f"I search {name}.", name, tool, parameter)
        for tool, parameter in text_tools[1:2]:
            word = "" if any(use.name == tool.name for use in turn.uses) else _rarest_word(turn)
            if word:
                return _call(f"I look up {word}.", word, tool, parameter)
    return Move("I answer from what I saw.", _answer(turn))


def _call(thought: str, text: str, tool: Tool, parameter: str) -> Move:
    return Move(thought, text, tool.name, parameter, parameter == next(iter(tool.parameters["properties"])))


def _text_parameter(tool: Tool) -> str:
    """Return the first text parameter, if a call needs no other one; "" if there is none."""
    properties = tool.parameters.get("properties") or {}
    for name, schema in properties.items():
        kind = schema.get("type") if isinstance(schema, dict) else None
        if kind == "string" or (isinstance(kind, list) and "string" in kind):
            return str(name) if set(tool.parameters.get("required", ())) <= {name} else ""
    return ""


def _next_searches(turn: Turn, tool: str, parameter: str) -> Iterator[str]:
    """Yield the names to search next, in order, without those already searched (ignoring case)."""
    searches = [use for use in turn.uses if use.name == tool]
    searched_texts = [_argument(use, parameter).casefold() for use in searches]
    for name in _names_of_question(turn.question):
        if name.casefold() not in searched_texts:
            yield name
    searched_texts += [passage.title.casefold() for use in searches for passage in use.observation.passages]
    for use in searches:
        for name in _names_of_passages(use):
            if not any(name.casefold() in each for each in searched_texts):
                yield name


def _names_of_question(question: str) -> list[str]:
    """Return the names in a question, longest first; its content words if it has no name."""
    names = names_in(question)
    if not names:
        content = set(content_terms(question))
        names = [word for word in dict.fromkeys(words(question)) if content.intersection(terms(word))]
    return sorted(names, key=len, reverse=True)


def _names_of_passages(use: ToolUse) -> list[str]:
    """Return the first names in each passage of a search, without the names in its title."""
    names: list[str] = []
    for passage in use.observation.passages:
        title = passage.title.casefold()
        names += [name for name in names_in(passage.text) if name.casefold() not in title][:NAMES_PER_PASSAGE]
    return names


def _rarest_word(turn: Turn) -> str:
    """Return the content word of the question that is rarest in the tool results; on a tie, the longest."""
    counts = Counter(term for use in turn.uses for term in terms(use.observation.text))
    content = set(content_terms(turn.question))
    candidates = [word for word in dict.fromkeys(words(turn.question)) if content.intersection(terms(word))]
    in_results = [word for word in candidates if any(counts[term] for term in terms(word))]
    return min(in_results or candidates, key=lambda word: (sum(counts[t] for t in terms(word)), -len(word)), default="")


def _answer(turn: Turn) -> str:
    """Return the answer of `extractive` from the supplied passages and the tool results."""
    passages = list(turn.passages or ())
    for number, use in enumerate(turn.uses):
        observation = use.observation
        if observation.passages:
            passages += [Passage(f"{number}-{each.doc_id}", each.text, each.title) for each in observation.passages]
        elif observation.error is None and not observation.invalid and observation.found is not False:
            passages.append(Passage(str(number), observation.text))
    distinct = {(passage.title, passage.text): passage for passage in passages}
    return extractive(Query(turn.question, tuple(distinct.values()), (), turn.language, "")).text


def _argument(use: ToolUse, parameter: str) -> str:
    return use.arguments if isinstance(use.arguments, str) else str(use.arguments.get(parameter, ""))
