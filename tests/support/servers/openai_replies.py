"""Bodies of the OpenAI protocol that the loopback server returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any
from zlib import crc32

__all__ = ["calls_of_tools", "completion", "embedding", "embeddings", "error", "last_user", "text_of", "texts_of"]

Body = dict[str, Any]

DIMENSIONS = 8


def error(message: str, code: str | None) -> Body:
    """Return the body of an error."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, also if it consists of parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def last_user(body: Body) -> str:
    """Return the last message of the user, or ""."""
    return next((text_of(message) for message in reversed(body["messages"]) if message["role"] == "user"), "")


def completion(body: Body, text: str) -> Body:
    """Return the completion ``text``; its tokens are words."""
    sent = sum(len(text_of(message).split()) for message in body.get("messages", ()))
    got = len(text.split())
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got},
    }


def calls_of_tools(body: Body, *calls: tuple[str, str], text: str | None = None) -> Body:
    """Return a completion that calls tools, each a name and the text of its arguments; its ids are random."""
    tool_calls = [
        {"id": f"call_{token_hex(8)}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for name, arguments in calls
    ]
    reply = completion(body, text or "")
    message = {"role": "assistant", "content": text, "tool_calls": tool_calls}
    return {**reply, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def embedding(text: str) -> list[float]:
    """Return the counts of the text's words in ``DIMENSIONS`` bins, the same for the same words."""
    bins = Counter(crc32(word.encode()) % DIMENSIONS for word in text.lower().split())
    return [float(bins[at]) for at in range(DIMENSIONS)]


def texts_of(body: Body) -> list[str]:
    """Return the texts of a request for embeddings."""
    return [body["input"]] if isinstance(body["input"], str) else list(body["input"])


def embeddings(body: Body, vectors: Sequence[Sequence[float]]) -> Body:
    """Return the reply with these vectors, the last one first; its tokens are the words of the texts."""
    texts = texts_of(body)
    rows = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)][::-1]
    words = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": words, "total_tokens": words}
    return {"object": "list", "model": body.get("model", ""), "data": rows, "usage": usage}
