"""What the options say of models: their names and parameters, recordings, prompts, money."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pytest_rageval.errors import SettingError, UnknownNameError, found

__all__ = ["RECORD_MODES", "ModelSetting", "by_language", "model_setting", "parameters", "record_mode", "stale_policy"]

RECORD_MODES = ("none", "once", "new_episodes", "all")
"""VCR's words."""

_TRIES = {"attempts": "attempts", "deadline": "deadline_s"}
"""The parameters of ours that stand among the model's: requests a call at most, seconds for all of them."""

_CHAT_DEFAULTS: Mapping[str, Any] = MappingProxyType({"temperature": 0})

_WHOLE, _ABOVE_0, _AMOUNT = "a whole number of 1 or more", "a number above 0", "a number of 0 or more"
_NUMBERS = {
    "attempts": _WHOLE,
    "deadline": _ABOVE_0,
    "input_cost_per_token": _AMOUNT,
    "max_completion_tokens": _WHOLE,
    "max_reply_bytes": _WHOLE,
    "max_tokens": _WHOLE,
    "output_cost_per_token": _AMOUNT,
    "timeout": _ABOVE_0,
}
"""The parameters that are read here, and what they have to be."""


@dataclass(frozen=True, slots=True)
class ModelSetting:
    """A model as the options name it.

    Attributes:
        name: litellm's name of it, or None.
        params: what every call is asked with.
        retry: how long failed calls are tried again: ``attempts`` and ``deadline_s``, where they are given.
    """

    name: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    retry: Mapping[str, Any] = field(default_factory=dict)


def model_setting(
    name: str | None, lines: Sequence[str], where: str, defaults: Mapping[str, Any] = _CHAT_DEFAULTS
) -> ModelSetting:
    """Return a model with the parameters that ``lines`` give it, each ``name = value``, the value JSON or bare text.

    What they do not say is as in ``defaults``: the temperature is 0.

    Raises:
        SettingError: a line has no equals sign, names a parameter twice, or gives one that is read here no such number.
    """
    params = parameters(lines, where, "max_tokens = 512")
    for key, wanted in _NUMBERS.items():
        if key in params and not _is_number(params[key], wanted):
            raise SettingError(f"{where} has {key} = {found(params[key])}; write {wanted}")
    retry = {ours: params.pop(key) for key, ours in _TRIES.items() if key in params}
    return ModelSetting(name or None, {**defaults, **params}, retry)


def parameters(lines: Sequence[str], where: str, example: str) -> dict[str, Any]:
    """Return what lines ``name = value`` say, the value JSON or bare text.

    Raises:
        SettingError: a line has no equals sign, or names a parameter twice.
    """
    params: dict[str, Any] = {}
    for line in lines:
        key, equals, text = (part.strip() for part in line.partition("="))
        if not key or not equals or not text:
            raise SettingError(f"{where} has the line {found(line)}; write 'name = value', for instance {example!r}")
        if key in params:
            raise SettingError(f"{where} gives {found(key)} twice; give it once")
        params[key] = _value(text)
    return params


def record_mode(mode: str, where: str) -> str | None:
    """Return the mode, or None for ""; one that VCR does not know is a `SettingError`."""
    if mode and mode not in RECORD_MODES:
        raise UnknownNameError("record mode", mode, RECORD_MODES, where)
    return mode or None


def stale_policy(text: str, where: str) -> str:
    """Return what happens to stale recordings: error, warn or replay; anything else is a `SettingError`."""
    policy = text.strip()
    if policy not in ("error", "warn", "replay"):
        raise SettingError(f"{where} is {found(policy)}; write error, warn or replay")
    return policy


def by_language(lines: Sequence[str], where: str, example: str) -> dict[str, tuple[str, ...]]:
    """Return the texts of lines ``language: text`` by language; another line is a `SettingError`."""
    texts: dict[str, tuple[str, ...]] = {}
    for line in lines:
        language, _, text = (part.strip() for part in line.partition(":"))
        if not language or not text:
            raise SettingError(f"{where} has the line {found(line)}; write 'language: text', for instance {example!r}")
        texts[language] = (*texts.get(language, ()), text)
    return texts


def _is_number(value: object, wanted: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if wanted is _WHOLE else (int, float)):
        return False
    return math.isfinite(value) and (value > 0 or (value == 0 and wanted is _AMOUNT))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
