"""Write the program of the model ``embedded``: search names, then pick the best sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from pytest_rageval.environments.tool import Tool
from pytest_rageval.model.phrases import REJECTION_SENTENCE
from pytest_rageval.systems.embedded.names import names_in
from pytest_rageval.systems.embedded.turn import Turn
from pytest_rageval.systems.question import FUNCTION_WORDS, content_terms

__all__ = ["write_program"]

LONGEST_TERM = 40
"""Maximum length of a question's word in a search, in characters."""

_PROGRAM = Template('''
import re

TERMS = $terms
searches = $names
FUNCTION_WORDS = $function_words
texts = $documents


def names_in(text):
    """Return the runs of capitalised words, without function words at their beginning, the longest first."""
    runs, run = [], []
    for word in text.split() + [""]:
        bare = word.strip(".,;:!?()[]\\"'")
        if bare[:1].isupper() and (run or bare.lower() not in FUNCTION_WORDS):
            run.append(bare)
        if run and (not bare[:1].isupper() or word[-1:] in ".,;:!?)"):
            runs.append(" ".join(run))
            run = []
    return sorted(dict.fromkeys(runs), key=lambda name: -len(name))


def overlap(sentence):
    """Return how many words of the question a sentence has; one that is in no name counts more than all names."""
    found = [term for term in TERMS if term in sentence.lower()]
    return len(found) + len(TERMS) * len([term for term in found if term not in asked])


asked = " ".join(searches).lower()
searched = []
while searches and len(searched) < $most:
    name = searches.pop(0)
    if name.lower() in searched:
        continue
    searched.append(name.lower())
    try:
        found = str($search(name))
    except Exception:
        continue
    if not found.startswith("Could not find "):
        texts.append(found)
        searches += names_in(found)[:4]

sentences = [each.strip() for text in texts for each in re.split("(?<=[.!?])[ ]+|(?<=[。！？])|[\\n]+", text)]
best = max(sentences, key=overlap) if sentences else ""
answer = best if overlap(best) else $rejection
''')


def write_program(turn: Turn) -> str:
    """Return a program for ``pal`` that searches the names in the question, then the names in the results.

    Its answer is the sentence that shares the most words with the question; without such a sentence, RGB's rejection.
    """
    tool = _search_tool(turn.tools)
    terms = [term[:LONGEST_TERM] for term in content_terms(turn.question)]
    function_words = sorted(word for word in FUNCTION_WORDS if word.isascii())
    values: Mapping[str, Any] = {
        "terms": terms,
        "names": sorted(names_in(turn.question) or terms, key=len, reverse=True),
        "function_words": function_words,
        "documents": [passage.text for passage in turn.passages or ()],
        "rejection": REJECTION_SENTENCE.get(turn.language, REJECTION_SENTENCE["en"]),
        "most": turn.max_steps - 1 if tool else 0,
    }
    literals = {name: repr(value) for name, value in values.items()}
    program = _PROGRAM.substitute(literals, search=tool.name if tool else "str").strip()
    return f"```python\n{program}\n```"


def _search_tool(tools: Sequence[Tool]) -> Tool | None:
    """Return the first tool that takes one text; prefer a tool with "search" in its name."""
    text_tools = [tool for tool in tools if _takes_text(tool)]
    return min(text_tools, key=lambda tool: "search" not in tool.name.lower(), default=None)


def _takes_text(tool: Tool) -> bool:
    properties = tool.parameters.get("properties") or {}
    required = [*tool.parameters.get("required", ())]
    first = next(iter(required or properties), "")
    return (
        len(required) < 2 and isinstance(properties.get(first), Mapping) and properties[first].get("type") == "string"
    )
