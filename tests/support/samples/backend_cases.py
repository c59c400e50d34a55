"""The backends that share one contract: our own HTTP client, and litellm with two providers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from pytest_rageval.llm.backends.litellm_backend import LiteLLM
from pytest_rageval.llm.backends.openai_http import OpenAIHTTP

T = TypeVar("T")
Backend = type[OpenAIHTTP | LiteLLM]

PLAIN = (OpenAIHTTP, "openai/gpt-4o-mini")
BACKENDS: dict[str, tuple[Backend, str]] = {
    "plain": PLAIN,
    "litellm": (LiteLLM, "openai/gpt-4o-mini"),
    "litellm-vllm": (LiteLLM, "hosted_vllm/some-model"),
}
each_backend = pytest.mark.parametrize(("backend", "model"), BACKENDS.values(), ids=BACKENDS)
openai_backends = pytest.mark.parametrize("backend", [OpenAIHTTP, LiteLLM], ids=["plain", "litellm"])


def used(backend: Backend, model: str, use: Callable[[OpenAIHTTP | LiteLLM], Awaitable[T]]) -> T:
    """Use a backend in a new event loop, and close it."""

    async def using() -> T:
        opened = backend(model)
        try:
            return await use(opened)
        finally:
            await opened.aclose()

    return asyncio.run(using())
