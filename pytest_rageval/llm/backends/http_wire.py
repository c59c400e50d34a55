"""What makes a call through litellm cheap: a client without a second model of the request, and no logging.

Of the processor time of a bare ``litellm.acompletion`` to an OpenAI-like server, more than half is spent on what
litellm was not asked for here. Both are given to it as arguments: the client that it would make itself
(``client``), and the object that it would tell of the call (``litellm_logging_obj``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from importlib import import_module
from typing import Any
from urllib.request import getproxies

from pytest_rageval.llm.backends.prices import entry

__all__ = ["MAX_REPLY_BYTES", "DirectClient", "ReplyTooLargeError", "direct_client", "unlogged"]

MAX_REPLY_BYTES = 64 * 2**20
"""Bytes of a reply, decompressed, that are read unless the parameter ``max_reply_bytes`` says otherwise."""

_DEFAULT_BASE = "https://api.openai.com/v1"


class ReplyTooLargeError(Exception):
    """A reply is larger than ``max_reply_bytes``."""


class DirectClient:
    """Stands in for an ``openai.AsyncOpenAI``, and sends the request as litellm made it.

    openai's own client checks and copies each field of the request and of the reply by its type, and sends it
    through httpx, whose pool takes the longer the more connections it has. This one sends JSON through aiohttp.

    Args:
        client: an ``openai.AsyncOpenAI``; answers for everything else, and makes the errors.
        tls: what aiohttp shall check certificates with.
        max_reply_bytes: bytes of a reply, decompressed, after which reading stops with a `ReplyTooLargeError`.
    """

    def __init__(self, client: Any, tls: Any, max_reply_bytes: int = MAX_REPLY_BYTES) -> None:
        self._client = client
        self._max_reply_bytes = max_reply_bytes
        self._tls = tls
        self._session: Any = None
        headers = {**client.default_headers, **client.auth_headers}
        self._headers = {name: value for name, value in headers.items() if isinstance(value, str)}
        self._url = f"{str(client.base_url).rstrip('/')}/chat/completions"
        self.chat = self.completions = self.with_raw_response = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def create(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_body: Mapping[str, object] | None = None,
        extra_query: Mapping[str, str] | None = None,
        **body: object,
    ) -> _Reply:
        """Send one request; an error status raises openai's exception, a broken connection aiohttp's."""
        aiohttp: Any = import_module("aiohttp")
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, ssl=self._tls)
            self._session = aiohttp.ClientSession(connector=connector, headers=self._headers)
        async with self._session.post(
            self._url,
            data=json.dumps({**body, **(extra_body or {})}).encode(),
            headers=extra_headers,
            params=extra_query,
            timeout=aiohttp.ClientTimeout(total=timeout),
        ) as response:
            content = await self._read(response)
            if response.status >= 400:
                raise self._refused(response.status, response.headers, content)
            return _Reply(content, response.headers)

    async def _read(self, response: Any) -> bytes:
        content = bytearray()
        async for chunk in response.content.iter_any():
            content += chunk
            if len(content) > self._max_reply_bytes:
                raise ReplyTooLargeError(f"its reply is larger than {self._max_reply_bytes:,} bytes")
        return bytes(content)

    def _refused(self, status: int, headers: Mapping[str, str], content: bytes) -> Exception:
        httpx: Any = import_module("httpx")
        kept = [(name, value) for name, value in headers.items() if name.lower() != "content-encoding"]
        reply = httpx.Response(status, headers=kept, content=content, request=httpx.Request("POST", self._url))
        error: Exception = self._client._make_status_error_from_response(reply)
        return error

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
        await self._client.close()


class _Reply:
    """A reply as litellm reads it from openai's client: headers, and the JSON of the body."""

    def __init__(self, content: bytes, headers: Mapping[str, str]) -> None:
        self._content = content
        self.headers = headers

    def parse(self) -> _Reply:
        return self

    def model_dump(self) -> Any:
        return json.loads(self._content)


def direct_client(litellm: Any, model: str, params: Mapping[str, Any]) -> DirectClient | None:
    """Return the client for OpenAI's protocol as these parameters, litellm's settings and the environment ask for it.

    None leaves the client to litellm: for other providers, for models that are asked elsewhere than for a chat
    completion, without a key, and behind a proxy.
    """
    key = params.get("api_key") or litellm.api_key or litellm.openai_key or _secret("OPENAI_API_KEY")
    if not key or not _chats(litellm, model, params) or getproxies().keys() & {"http", "https", "all"}:
        return None
    base = params.get("api_base") or params.get("base_url") or litellm.api_base
    base = base or _secret("OPENAI_BASE_URL") or _secret("OPENAI_API_BASE") or _DEFAULT_BASE
    organization = params.get("organization") or litellm.organization or _secret("OPENAI_ORGANIZATION")
    tls = import_module("litellm.llms.custom_httpx.http_handler").get_ssl_configuration()
    idle = import_module("httpx").AsyncClient(verify=tls)  # openai would read the certificates again for one of its own
    client = import_module("openai").AsyncOpenAI(
        api_key=key, base_url=base, organization=organization, max_retries=0, http_client=idle
    )
    return DirectClient(client, tls, int(params.get("max_reply_bytes") or MAX_REPLY_BYTES))


def _chats(litellm: Any, model: str, params: Mapping[str, Any]) -> bool:
    base = params.get("api_base") or params.get("base_url")
    bare, provider, *_ = litellm.get_llm_provider(model, params.get("custom_llm_provider"), base)
    elsewhere = getattr(litellm, "route_all_chat_openai_to_responses", False) or bare.startswith("responses/")
    return provider == "openai" and not elsewhere and entry(model).get("mode", "chat") == "chat"


def _secret(name: str) -> str | None:
    found: str | None = import_module("litellm.secret_managers.main").get_secret(name)
    return found


def unlogged(litellm: Any, model: str, asked: Mapping[str, Any], call: str) -> dict[str, object]:
    """Return the argument that makes litellm neither price a call nor tell anybody of it.

    {} where the user has callbacks that want to know.
    """
    if _callbacks(litellm):
        return {}
    logging = _silent_class()(
        model=model,
        messages=asked.get("messages") or asked.get("input"),
        stream=False,
        call_type=call,
        start_time=datetime.now(),
        litellm_call_id="",
        function_id="",
    )
    logging.defer_async_logging = True
    return {"litellm_logging_obj": logging}


def _callbacks(litellm: Any) -> bool:
    kinds = ("callbacks", "input_callback", "success_callback", "failure_callback")
    return any(getattr(litellm, name, None) for kind in kinds for name in (kind, f"_async_{kind}"))


@lru_cache(maxsize=1)
def _silent_class() -> Any:
    base = import_module("litellm.litellm_core_utils.litellm_logging").Logging
    muted = ("pre_call", "post_call", "response_cost_calculator", "failure_handler")
    return type("Silent", (base,), {**dict.fromkeys(muted, _nothing), "async_failure_handler": _nothing_later})


def _nothing(*args: object, **kwargs: object) -> None:
    return None


async def _nothing_later(*args: object, **kwargs: object) -> None:
    return None
