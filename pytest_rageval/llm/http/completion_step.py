"""Convert a model call into a step of the trace."""

from __future__ import annotations

from time import time

from pytest_rageval.llm.http.model_usage import ModelCall, ModelReply
from pytest_rageval.llm.secrets import mask_json
from pytest_rageval.trace.collector import Event
from pytest_rageval.trace.steps import COMPLETION

__all__ = ["completion_step"]


def completion_step(
    model_call: ModelCall, reply: ModelReply, cost: float | None, start: float, *, replayed: bool
) -> Event:
    """Return the step ``completion`` of a model call, with secrets of the environment masked."""
    end = time()
    detail = {
        "model": reply.model or model_call.model,
        "prompt": model_call.prompt,
        "text": reply.text,
        "tool_calls": [dict(call) for call in reply.tool_calls] or None,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "cost_usd": cost,
        "attempts": 0 if replayed else 1,
        "replayed": True if replayed else None,
        "seconds": None if replayed else end - start,
    }
    known = {name: value for name, value in detail.items() if value is not None}
    return Event(COMPLETION, mask_json(known), start, end)
