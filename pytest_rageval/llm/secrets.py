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

__all__ = ["add_secrets", "mask", "masked", "name_secrets", "redact", "redacted", "redacted_json", "redacted_with_json"]

SHORTEST = 8
"""Characters: a shorter value does not count as a secret; it occurs in too many texts by chance."""

LINE = 16
"""Minimum characters of a line to mask it alone, in a secret of several lines such as a PEM key."""

END = 4
"""Characters: a shorter end of a secret next to ``...`` is not masked."""

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
"""Names of variables, each with a value that is made of the variable's."""

_known: tuple[Mapping[object, object], object, _Secrets] | None = None
"""The raw environment, the patterns with the added values, and the secrets of the last call."""


class _Secrets(NamedTuple):
    """The secrets in force.

    Attributes:
        names: value without white space -> ``<NAME>``, the longest value first.
        hints: pieces of the values; a text without any of them contains no secret, not even one split by white space.
        pattern: finds each value, also if white space splits it.
        json_hints: the same pieces, encoded as in JSON.
    """

    names: Mapping[str, str]
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    json_hints: tuple[str, ...]


def name_secrets(patterns: Sequence[str]) -> None:
    """Mask the values of these environment variables too, whatever their names; ``*`` stands for any characters.

    Values of earlier calls and of `add_secrets` are no longer masked.
    """
    global _patterns, _added
    _patterns, _added = tuple(patterns), ()


def add_secrets(name: str, values: Iterable[str]) -> None:
    """Mask these values too, as ``<NAME>``: they are made of the value of the variable ``name``.

    They end with the next `name_secrets`. As in `mask`, a short value, a plain word or a number does not count.
    """
    global _added
    _added = tuple(dict.fromkeys((*_added, *((name, value) for value in values if _is_secret(value)))))


def mask(text: str) -> str:
    """Return ``text`` with each secret of the environment replaced by ``<NAME>``, the name of its variable.

    A secret is the value of a variable that `name_secrets` names, or whose name holds KEY, TOKEN, SECRET, PASSWORD,
    PASSWD or CREDENTIAL when the value has 8 characters or more and is no plain word, no number and no existing path.
    It is found across line breaks and percent-encoded. In a secret with several lines, each long line is masked alone.
    """
    return _mask_with(text, _in_force())


def masked(value: Any) -> Any:
    """Return a JSON value with `mask` applied to every text in it, the keys of its objects among them."""
    secrets = _in_force()
    return _map_texts(value, lambda text: _mask_with(text, secrets)) if secrets.names else value


def redact(text: str) -> str:
    """Return ``text`` for people and files: `mask` applied, and other traces of secrets masked too.

    These are user, password and keys in an address, and either end of a secret that ``...`` abbreviates.
    """
    return _redact_with(text, _in_force())


def redacted(value: Any) -> Any:
    """Return a JSON value with `redact` applied to every text in it, the keys of its objects among them.

    For speed, a value whose JSON shows no sign of a secret, which is nearly every value, is returned as it is.
    """
    return redacted_with_json(value)[0]


def redacted_json(value: Any) -> str:
    """Return a JSON value as one line of JSON, masked as `redacted` does."""
    return redacted_with_json(value)[1]


def redacted_with_json(value: Any) -> tuple[Any, str]:
    """Return a JSON value, masked as `redacted` does, and the same as one line of JSON."""
    line, secrets = _to_json(value), _in_force()
    if _is_suspicious(line, secrets):
        value = _map_texts(value, lambda text: _redact_with(text, secrets))
        line = _to_json(value)
    return value, line


def _is_suspicious(line: str, secrets: _Secrets) -> bool:
    """Return whether a line of JSON may hold what `redact` masks."""
    if any(hint in line for hint in secrets.json_hints) or ("..." in line and secrets.names):
        return True
    return "://" in line and (_QUERY.search(line) or _USER_INFO.search(line)) is not None


def _in_force() -> _Secrets:
    """Return the secrets of the environment as it is now, cached until it changes."""
    global _known
    raw = getattr(os.environ, "_data", None)
    if isinstance(raw, dict):  # decoding takes longer than the masking
        raw = raw.copy()
        raw.pop(os.environ.encodekey(_CHANGING), None)
        if _known is not None and raw == _known[0] and (_patterns, _added) == _known[1]:
            return _known[2]
    secrets = _secrets(_variables(), _patterns, _added)
    if isinstance(raw, dict):
        _known = raw, (_patterns, _added), secrets
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
        if secret[:END] in text or secret[-END:] in text:
            for length in range(len(secret) - 1, END - 1, -1):
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
            long_lines = [line for line in lines if len(line) >= LINE] if len(lines) > 1 else []
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
    """Yield pieces of each value, so short that a split leaves at least one of them whole."""
    for value in values:
        size = 6 if len(value) > LINE else 4
        yield from (value[at : at + size] for at in range(0, max(1, len(value) - size + 1), size))


def _is_secret(value: str) -> bool:
    return len(value) >= SHORTEST and not _is_plain(value)


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
