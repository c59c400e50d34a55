"""Convert return values of LangChain and LlamaIndex to an `Answer`; import neither."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.retrieval.adapt_results import ranking_of

__all__ = ["answer_of_library"]

TEXTS = ("answer", "result", "output", "output_text")
"""Keys of the answer in the result of a LangChain chain."""

SOURCES = ("source_documents", "source_nodes", "context")
"""Keys of the retrieved passages in the result of a LangChain chain."""


def answer_of_library(value: object, name: str) -> Answer | None:
    """Return the answer in an AIMessage, a Response or the dict of a chain; None for any other value.

    Sources become the ranking; token counts of messages (``usage_metadata``) become the usage.

    Args:
        value: what a system returned.
        name: the system's name, for messages.

    Raises:
        SystemContractError: the sources are not passages.
    """
    if isinstance(value, Mapping):
        return _from_dict(value, name)
    if _is_ai(value):
        return Answer(_text(value), usage=_usage([value]))
    response, nodes = getattr(value, "response", None), getattr(value, "source_nodes", None)
    if isinstance(response, str) and isinstance(nodes, list):
        return Answer(response, _ranking(nodes, "source_nodes", name))
    return None


def _from_dict(value: Mapping[Any, Any], name: str) -> Answer | None:
    content = next((value[key] for key in TEXTS if value.get(key) is not None), None)
    answer = Answer(content) if isinstance(content, str) else content if isinstance(content, Answer) else None
    if content is None:
        answer = _from_messages(value.get("messages"))
    elif answer is None:
        answer = answer_of_library(content, name)
    if answer is None or answer.ranking is not None:
        return answer
    for key in SOURCES:
        if isinstance(value.get(key), list | tuple):
            return replace(answer, ranking=_ranking(value[key], key, name))
    return answer


def _from_messages(messages: object) -> Answer | None:
    """Return the last message of an agent, with the total usage of its messages since the question."""
    if not isinstance(messages, Sequence) or not messages or not _is_ai(messages[-1]):
        return None
    question_at = max((at for at, each in enumerate(messages) if getattr(each, "type", None) == "human"), default=-1)
    return Answer(_text(messages[-1]), usage=_usage(list(filter(_is_ai, messages[question_at + 1 :]))))


def _is_ai(value: object) -> bool:
    return getattr(value, "type", None) in ("ai", "AIMessageChunk") and isinstance(
        getattr(value, "content", None), str | list
    )


def _text(message: Any) -> str:
    """Return the text of a message; its content is a string or a list of blocks."""
    if isinstance(message.content, str):
        return message.content
    blocks = (each if isinstance(each, str) else each.get("text") for each in message.content)
    return "".join(text for text in blocks if isinstance(text, str))


def _usage(messages: Sequence[object]) -> Usage | None:
    """Return the tokens of all messages; None if one has no count."""
    counts = [getattr(message, "usage_metadata", None) for message in messages]
    if not all(isinstance(count, Mapping) for count in counts):
        return None
    return Usage(*(sum(count[key] for count in counts if count) for key in ("input_tokens", "output_tokens")))


def _ranking(sources: Sequence[object], key: str, name: str) -> Ranking:
    return ranking_of(sources, sys.maxsize, name, f"{key} of rag_system")
