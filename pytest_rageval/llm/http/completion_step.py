"""The step of a trace that a model call becomes."""

from __future__ import annotations

from time import time

from pytest_rageval.llm.http.model_usage import ModelCall, ModelReply
from pytest_rageval.llm.secrets import masked
from pytest_rageval.trace.collector import Event
from pytest_rageval.trace.steps import COMPLETION

__all__ = ["completion_step"]


def completion_step(asked: ModelCall, said: ModelReply, cost: float | None, start: float, *, replayed: bool) -> Event:
    """Return a model call as a step ``completion``, with secrets of the environment masked."""
    end = time()
    detail = {
        "model": said.model or asked.model,
        "prompt": asked.prompt,
        "text": said.text,
        "tool_calls": [dict(call) for call in said.tool_calls] or None,
        "finish_reason": said.finish_reason,
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": said.completion_tokens,
        "cost_usd": cost,
        "attempts": 0 if replayed else 1,
        "replayed": True if replayed else None,
        "seconds": None if replayed else end - start,
    }
    known = {name: value for name, value in detail.items() if value is not None}
    return Event(COMPLETION, masked(known), start, end)
