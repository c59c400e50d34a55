"""Ask a model by its litellm name: over plain HTTP if possible, else through litellm."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from re import match
from threading import Thread
from typing import TYPE_CHECKING

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.backends.openai_protocol import CHAT, CONNECTION, EMBEDDING
from pytest_rageval.llm.backends.prices import entry
from pytest_rageval.llm.backends.stop_sequences import is_stop_refused
from pytest_rageval.model.chat import Completion, Embeddings, Message

if TYPE_CHECKING:
    from pytest_rageval.llm.backends.litellm_backend import LiteLLM
    from pytest_rageval.llm.backends.openai_http import OpenAIHTTP

__all__ = ["NamedModel", "is_plain", "preload"]

_MAPPED = ("gpt-5", "gpt-6", "audio", "search", "deep-research", "computer-use")
"""Parts of the names of those OpenAI models for which litellm changes parameters or the address."""
_VARIABLES = ("SSL_CERTIFICATE", "SSL_ECDH_CURVE", "SSL_SECURITY_LEVEL", "SSL_VERIFY", "USE_LITELLM_PROXY")
"""Environment variables that litellm reads and httpx does not."""
_SETTINGS = (
    "aclient_session", "api_base", "api_key", "callbacks", "failure_callback", "headers", "input_callback",
    "model_alias_map", "openai_key", "organization", "route_all_chat_openai_to_responses", "success_callback",
)  # fmt: skip
"""litellm's settings that change a call or observe it."""


class NamedModel:
    """A `ChatModel` and an `EmbeddingModel` of any provider, by litellm name; `is_plain` selects the backend.

    Args:
        model: litellm's name of the model, as in ``openai/gpt-4o-mini``.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._backends: dict[bool, OpenAIHTTP | LiteLLM] = {}
        self._refuses_stop = False

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the reply to ``messages``.

        If the model refuses ``stop``, ask again without it, and do not send it in later calls.
        """
        if self._refuses_stop:
            params = {**params, "stop": None}
        plain = is_plain(self.model, params, CHAT) and all(map(_is_text, messages))
        try:
            return await self._backend(plain).complete(messages, **params)
        except ModelError as error:
            if not is_stop_refused(error, params):
                raise
            self._refuses_stop = True
            return await self._backend(plain).complete(messages, **{**params, "stop": None})

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        """Return one vector per text, in order."""
        return await self._backend(is_plain(self.model, params, EMBEDDING)).embed(texts, **params)

    async def aclose(self) -> None:
        """Close the connections."""
        for backend in self._backends.values():
            await backend.aclose()

    def _backend(self, plain: bool) -> OpenAIHTTP | LiteLLM:
        if plain not in self._backends:
            self._backends[plain] = _plain_backend(self.model) if plain else _litellm_backend(self.model)
        return self._backends[plain]


def _plain_backend(model: str) -> OpenAIHTTP:
    from pytest_rageval.llm.backends.openai_http import OpenAIHTTP

    return OpenAIHTTP(model)


def _litellm_backend(model: str) -> LiteLLM:
    from pytest_rageval.llm.backends.litellm_backend import LiteLLM

    return LiteLLM(model)


def is_plain(model: str, params: Mapping[str, object], sent: frozenset[str] = CHAT | EMBEDDING) -> bool:
    """Return whether to send a call directly to an OpenAI-compatible server, not through litellm.

    The result is True if all of these hold:

    - The model is ``openai/NAME``, and litellm does not map its parameters. It maps those of reasoning models
      (``o3-mini``, ``gpt-5``), search and audio models, fine-tuned models, and models without chat completions.
    - Each parameter can be sent unchanged (``temperature``, ``seed``, ``tools``, ...) or sets up the connection
      (``api_base``, ``api_key``, ``timeout``, ``extra_body``, ...). As in litellm, ``dimensions`` are sent to
      ``text-embedding-3`` only.
    - Neither the environment nor litellm's own settings (callbacks, keys, ...) need litellm.
    """
    if not _is_plain_model(model) or any(os.environ.get(name) for name in _VARIABLES):
        return False
    names = {name for name, value in params.items() if value is not None}
    if names - sent - CONNECTION or ("dimensions" in names and "text-embedding-3" not in model):
        return False
    litellm = sys.modules.get("litellm")
    return not any(getattr(litellm, name, None) for name in _SETTINGS)


@lru_cache(maxsize=32)
def _is_plain_model(model: str) -> bool:
    provider, _, name = model.partition("/")
    if provider != "openai" or not name or name.startswith(("ft:", "responses/")):
        return False
    if any(mark in name for mark in _MAPPED) or match(r"o\d", name.rpartition("/")[2]):
        return False
    price_entry = entry(model)
    return price_entry.get("mode", "chat") in ("chat", "embedding") and not price_entry.get("supports_reasoning")


def _is_text(message: Mapping[str, object]) -> bool:
    """Return whether a message is only text; litellm rewrites images, files and cache marks."""
    return isinstance(message.get("content"), str | None) and "cache_control" not in message


def preload(models: Iterable[tuple[str, Mapping[str, object]]]) -> Thread | None:
    """Start a thread that imports the modules for calls of these models with their params; return the thread.

    Return None if there are no models.
    """
    backends = {is_plain(model, params) for model, params in models}
    if not backends:
        return None
    thread = Thread(target=_import_all, args=(sorted(backends, reverse=True),), name="rageval-models", daemon=True)
    thread.start()
    return thread


def _import_all(backends: Iterable[bool]) -> None:
    for plain in backends:
        with suppress(Exception):  # the first call imports it again and raises the error
            if plain:
                from pytest_rageval.llm.backends.http_posts import load

                load()
            else:
                from pytest_rageval.llm.backends.litellm_import import litellm

                litellm()
