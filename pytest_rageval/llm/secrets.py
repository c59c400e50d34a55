"""Mask secrets of the environment in files, output and reports."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

from pytest_rageval.model.plain import encoder_of

__all__ = [
    "add_secrets",
    "mask",
    "mask_json",
    "name_secrets",
    "redact",
    "redact_json",
    "redact_with_json",
    "to_redacted_json",
]

MIN_SECRET_CHARS = 8
"""Minimum characters of a secret: a shorter value occurs in too many texts by chance."""

MIN_LINE_CHARS = 16
"""In a secret of several lines, such as a PEM key, each line with at least this number of characters is masked."""

MIN_END_CHARS = 4
"""Minimum characters of the beginning or end of an abbreviated secret (``sk-12...``) to be masked."""

_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Z]?[a-z]{,11}|[A-Z]{,12}|[-+]?[0-9]+(?:[.,][0-9]+)*")
"""One word of at most twelve letters (``disabled``), or a number."""

_USER_INFO = re.compile(r"(?<=://)[^/\s\"'<>]+(?=@)")
_QUERY = re.compile(
    r"([?&](?:api[_-]?key|key|(?:access[_-]?)?token|(?:client[_-]?)?secret|passw(?:or)?d|sig(?:nature)?)=)"
    r"[^&#\s\"'<>)]+",
    re.IGNORECASE,
)

_to_json = encoder_of(json.JSONEncoder(ensure_ascii=False))

_CHANGING = "PYTEST_CURRENT_TEST"
"""The variable that pytest sets for each phase of a test; it is no secret."""

_patterns: tuple[str, ...] = ()
_added: tuple[tuple[str, str], ...] = ()
"""(name of a variable, secret derived from its value), from `add_secrets`."""

_cache: tuple[Mapping[object, object], object, _Secrets] | None = None
"""Cache: the raw environment, the patterns with the added values, and the secrets that they give."""


class _Secrets(NamedTuple):
    """The secrets of the environment, and patterns to find them.

    Attributes:
        names: value without white space -> ``<NAME>``, the longest value first.
        hints: pieces of the values; a text without any of them contains no secret, not even one split by white space.
        pattern: finds each value, even if white space splits it.
        json_hints: the pieces in ``hints``, encoded as in JSON.
    """

    names: Mapping[str, str]
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    json_hints: tuple[str, ...]


def name_secrets(patterns: Sequence[str]) -> None:
    """Also mask the values of environment variables that match these patterns; ``*`` stands for any characters.

    Values from earlier calls and from `add_secrets` are no longer masked.
    """
    global _patterns, _added
    _patterns, _added = tuple(patterns), ()


def add_secrets(name: str, values: Iterable[str]) -> None:
    """Also mask these values, as ``<NAME>``: they are derived from the value of the variable ``name``.

    They are masked until the next `name_secrets`. As in `mask`, a short value, a plain word or a number is no secret.
    """
    global _added
    _added = tuple(dict.fromkeys((*_added, *((name, value) for value in values if _is_secret(value)))))


def mask(text: str) -> str:
    """Return ``text`` with each secret of the environment replaced by ``<NAME>``, the name of its variable.

    A value is a secret if `name_secrets` names its variable. It is also a secret if the name of its variable contains
    KEY, TOKEN, SECRET, PASSWORD, PASSWD or CREDENTIAL, and the value has 8 characters or more and is no plain word, no
    number and no existing path. A secret is also found across line breaks and percent-encoded. In a secret with several
    lines, each long line is masked separately.
    """
    return _mask_with(text, _current_secrets())


def mask_json(value: Any) -> Any:
    """Return a JSON value with `mask` applied to every text in it, including the keys of objects."""
    secrets = _current_secrets()
    return _map_texts(value, lambda text: _mask_with(text, secrets)) if secrets.names else value


def redact(text: str) -> str:
    """Return ``text`` for people and files: `mask` applied, and other traces of secrets masked too.

    These traces are user, password and keys in an address, and the beginning or end of an abbreviated secret
    (``sk-12...``).
    """
    return _redact_with(text, _current_secrets())


def redact_json(value: Any) -> Any:
    """Return a JSON value with `redact` applied to every text in it, including the keys of objects.

    For speed, a value whose JSON shows no sign of a secret is returned unchanged; these are nearly all values.
    """
    return redact_with_json(value)[0]


def to_redacted_json(value: Any) -> str:
    """Return a JSON value as one line of JSON, with secrets masked as in `redact_json`."""
    return redact_with_json(value)[1]


def redact_with_json(value: Any) -> tuple[Any, str]:
    """Return a JSON value with secrets masked as in `redact_json`, and this value as one line of JSON."""
    line, secrets = _to_json(value), _current_secrets()
    if _is_suspicious(line, secrets):
        value = _map_texts(value, lambda text: _redact_with(text, secrets))
        line = _to_json(value)
    return value, line


def _is_suspicious(line: str, secrets: _Secrets) -> bool:
    """Return whether a line of JSON may contain text that `redact` masks."""
    if any(hint in line for hint in secrets.json_hints) or ("..." in line and secrets.names):
        return True
    return "://" in line and (_QUERY.search(line) or _USER_INFO.search(line)) is not None


def _current_secrets() -> _Secrets:
    """Return the secrets of the current environment; cached until it changes."""
    global _cache
    raw = getattr(os.environ, "_data", None)
    if isinstance(raw, dict):  # decoding takes longer than the masking
        raw = raw.copy()
        raw.pop(os.environ.encodekey(_CHANGING), None)
        if _cache is not None and raw == _cache[0] and (_patterns, _added) == _cache[1]:
            return _cache[2]
    secrets = _secrets(_variables(), _patterns, _added)
    if isinstance(raw, dict):
        _cache = raw, (_patterns, _added), secrets
    return secrets


def _variables() -> tuple[tuple[str, str], ...]:
    while True:
        with suppress(KeyError, RuntimeError):  # another thread has changed it, as pytest does at each test
            return tuple((name, value) for name, value in os.environ.items() if name != _CHANGING)


def _redact_with(text: str, secrets: _Secrets) -> str:
    text = _mask_with(text, secrets)
    if "..." in text:
        text = _without_ends(text, secrets)
    return _QUERY.sub(r"\1<masked>", _USER_INFO.sub("<masked>", text)) if "://" in text else text


def _without_ends(text: str, secrets: _Secrets) -> str:
    for secret, name in secrets.names.items():
        if secret[:MIN_END_CHARS] in text or secret[-MIN_END_CHARS:] in text:
            for length in range(len(secret) - 1, MIN_END_CHARS - 1, -1):
                text = text.replace(f"{secret[:length]}...", f"{name}...").replace(
                    f"...{secret[-length:]}", f"...{name}"
                )
    return text


@lru_cache(maxsize=4)
def _secrets(
    environment: tuple[tuple[str, str], ...], patterns: tuple[str, ...], added: tuple[tuple[str, str], ...]
) -> _Secrets:
    names: dict[str, str] = {}
    for name, value in sorted(environment):
        has_pattern = any(fnmatchcase(name, pattern) for pattern in patterns)
        has_secret_name = _SECRET_NAME.search(name) and _is_secret(value)
        if (has_pattern and value.strip()) or has_secret_name:
            lines = value.split("\n")
            long_lines = [line for line in lines if len(line) >= MIN_LINE_CHARS] if len(lines) > 1 else []
            for text in (value, quote(value, safe=""), *long_lines):
                names.setdefault("".join(text.split()), f"<{name}>")
    for name, value in added:
        for text in (value, quote(value, safe="")):
            names.setdefault("".join(text.split()), f"<{name}>")
    longest_first = {value: names[value] for value in sorted(names, key=lambda value: (-len(value), value)) if value}
    splittable = (r"\s*".join(map(re.escape, value)) for value in longest_first)
    hints = tuple(dict.fromkeys(_hints(longest_first)))
    escaped = tuple(_to_json(hint)[1:-1] for hint in hints)
    return _Secrets(longest_first, hints, re.compile("|".join(splittable)), escaped)


def _hints(values: Iterable[str]) -> Iterator[str]:
    """Yield pieces of each value; they are so short that a split of the value leaves at least one of them intact."""
    for value in values:
        size = 6 if len(value) > MIN_LINE_CHARS else 4
        yield from (value[at : at + size] for at in range(0, max(1, len(value) - size + 1), size))


def _is_secret(value: str) -> bool:
    return len(value) >= MIN_SECRET_CHARS and not _is_plain(value)


def _is_plain(value: str) -> bool:
    return _PLAIN.fullmatch(value) is not None or os.path.exists(value)


def _mask_with(text: str, secrets: _Secrets) -> str:
    if not any(hint in text for hint in secrets.hints):  # far faster than the pattern, and the usual case
        return text
    return secrets.pattern.sub(lambda match: secrets.names["".join(match[0].split())], text)


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(key): _map_texts(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_map_texts(item, change) for item in value]
    return value
