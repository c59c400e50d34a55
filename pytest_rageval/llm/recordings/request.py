"""A recordable request: all that its reply depends on, and the key of its recording."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.llm.recordings.call_ids import number_call_ids
from pytest_rageval.llm.secrets import mask_json

__all__ = ["KEY_DIGITS", "Request"]

KEY_DIGITS = 32
"""Hexadecimal digits of a key."""

_CHAT = ("model", "judge")
"""Kinds whose messages are a conversation."""

_CONNECTION = frozenset({
    "api_version", "attempts", "deadline", "input_cost_per_token", "max_reply_bytes", "max_retries", "num_retries",
    "organization", "output_cost_per_token", "timeout",
})  # fmt: skip
"""Params that change how a request is sent, but not its reply."""

_ADDRESS = re.compile(r"(?:^|[_-])(?:api_?base|endpoint|headers?|host|prox(?:y|ies)|ur[il])$", re.IGNORECASE)
"""Names of params that are addresses or headers."""

_SECRET = re.compile(
    r"(?:^|[_-])(?:(?:api)?key|secret|passw(?:or)?d|credentials?|auth|authorization|bearer)(?:$|[_-])"
    r"|(?<!bos_)(?<!cls_)(?<!end_)(?<!eos_)(?<!eot_)(?<!mask_)(?<!pad_)(?<!sep_)(?<!start_)(?<!stop_)(?<!unk_)"
    r"token(?:$|_provider$)",
    re.IGNORECASE,
)
"""Names of params with keys, tokens or secrets; not ``max_tokens``, and not special tokens such as ``eos_token``."""

_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Position at which ``apiKey`` gets an underscore, to become ``api_key``."""

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode

MAX_EXACT_FLOAT = 2**53
"""Floats below this limit represent whole numbers exactly, so they become ints."""


@dataclass(frozen=True, slots=True)
class Request:
    """The parts of a call that its reply depends on. Equal requests share one recording.

    Params of the connection (a key, an address, a timeout, ...) are left out, secrets of the environment are masked,
    whole numbers are ints, and the ids of tool calls in a conversation are numbered. So two forms of the same request
    are equal.

    Attributes:
        kind: "model", "judge", "embedding", "system", "http", "tool" or "search".
        model: the name of the model, the system, the host, the environment or the index with its server.
        params: other parameters that the reply depends on.
        messages: the conversation, the texts to embed or the arguments, as JSON.
        repeat: number of the case's repetition, from 1.
        key: hash of all of the above, 32 hexadecimal digits.

    Raises:
        SettingError: a param or a message is no JSON value.
    """

    kind: str
    model: str
    params: Mapping[str, Any]
    messages: Any
    repeat: int
    key: str = field(init=False)

    def __post_init__(self) -> None:
        relevant = {name: value for name, value in self.params.items() if not _is_connection(name)}
        plain = {name: _plain(value, f"the param {name!r}") for name, value in relevant.items()}
        for name in [name for name in plain if name.startswith("extra_")]:
            plain[name] = _without_connection(plain[name])
            if plain[name] == {}:  # same as omitted
                del plain[name]
        messages_to_record = number_call_ids(self.messages) if self.kind in _CHAT else self.messages
        params, messages = mask_json([plain, _plain(messages_to_record, "a message")])
        text = _canonical([self.kind, self.model, params, messages, self.repeat])
        object.__setattr__(self, "params", params)
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "key", hashlib.sha256(text.encode("ascii")).hexdigest()[:KEY_DIGITS])


def _is_connection(name: str) -> bool:
    name = _CAMEL_CASE.sub("_", name)
    return name in _CONNECTION or _ADDRESS.search(name) is not None or _SECRET.search(name) is not None


def _without_connection(value: object) -> object:
    """Return a JSON value without params of the connection, at any depth."""
    if isinstance(value, dict):
        return {name: _without_connection(item) for name, item in value.items() if not _is_connection(name)}
    return [_without_connection(item) for item in value] if isinstance(value, list) else value


def _plain(value: object, where: str) -> object:
    """Return a JSON value as dicts and lists; raise `SettingError` for anything else."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < MAX_EXACT_FLOAT else value
    if isinstance(value, list | tuple):
        return [_plain(item, where) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item, where) for key, item in value.items()}
    raise SettingError(f"{where} is or holds {short_repr(value)}, which is no JSON value; only those can be recorded")
