"""What a reply depends on: the address of its recording."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.errors import SettingError, found
from pytest_rageval.llm.secrets import masked

__all__ = ["KEY_DIGITS", "Request"]

KEY_DIGITS = 32
"""Hexadecimal digits of a key."""

_ASIDE = frozenset({
    "api_version", "attempts", "deadline", "input_cost_per_token", "max_reply_bytes", "max_retries", "num_retries",
    "organization", "output_cost_per_token", "timeout",
})  # fmt: skip
"""Params that say how to ask, not what."""

_WHERE = re.compile(r"(?:^|[_-])(?:api_?base|endpoint|headers?|host|prox(?:y|ies)|ur[il])$", re.IGNORECASE)
"""Params that are named like an address, or like headers."""

_SECRET = re.compile(
    r"(?:^|[_-])(?:(?:api)?key|secret|passw(?:or)?d|credentials?|auth|authorization|bearer)(?:$|[_-])"
    r"|(?<!bos_)(?<!cls_)(?<!end_)(?<!eos_)(?<!eot_)(?<!mask_)(?<!pad_)(?<!sep_)(?<!start_)(?<!stop_)(?<!unk_)"
    r"token(?:$|_provider$)",
    re.IGNORECASE,
)
"""Params that are named like a key, a token or a secret; ``max_tokens`` and those of a tokenizer are not."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where ``apiKey`` would be written ``api_key``."""

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode

EXACT = 2**53
"""Whole numbers below it are the same as float and as int."""


@dataclass(frozen=True, slots=True)
class Request:
    """A call to a model or a system, as far as its reply depends on it. Requests that are equal have one recording.

    Params that say where or how to ask (a key, an address, a timeout, ...) are left out, secrets of the environment
    are masked, and whole numbers are ints: two spellings of one request are equal.

    Attributes:
        kind: "model", "judge", "embedding" or "system".
        model: the name of the model or of the system.
        params: what else the reply depends on.
        messages: the conversation, the texts to embed or the arguments, as JSON.
        repeat: which repetition of its case asks, from 1.
        key: 32 hexadecimal digits that stand for all of the above.

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
        told = {name: value for name, value in self.params.items() if not _is_aside(name)}
        plain = {name: _plain(value, f"the param {name!r}") for name, value in told.items()}
        for name in [name for name in plain if name.startswith("extra_")]:
            plain[name] = _without_aside(plain[name])
            if plain[name] == {}:  # as if it had not been given
                del plain[name]
        params, messages = masked([plain, _plain(self.messages, "a message")])
        text = _canonical([self.kind, self.model, params, messages, self.repeat])
        object.__setattr__(self, "params", params)
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "key", hashlib.sha256(text.encode("ascii")).hexdigest()[:KEY_DIGITS])


def _is_aside(name: str) -> bool:
    name = _HUMP.sub("_", name)
    return name in _ASIDE or _WHERE.search(name) is not None or _SECRET.search(name) is not None


def _without_aside(value: object) -> object:
    """Return a JSON value without what is aside in it, however deep."""
    if isinstance(value, dict):
        return {name: _without_aside(item) for name, item in value.items() if not _is_aside(name)}
    return [_without_aside(item) for item in value] if isinstance(value, list) else value


def _plain(value: object, where: str) -> object:
    """Return a JSON value of dicts and lists; anything else is a `SettingError`."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < EXACT else value
    if isinstance(value, list | tuple):
        return [_plain(item, where) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item, where) for key, item in value.items()}
    raise SettingError(f"{where} is or holds {found(value)}, which is no JSON value; only those can be recorded")
