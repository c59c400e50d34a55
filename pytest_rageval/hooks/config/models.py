"""Parse the settings of models: parameters, retries, record modes, texts by language."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.errors import SettingError, UnknownNameError, short_repr
from pytest_rageval.llm.parameters import check_parameters
from pytest_rageval.model.chat import CHAT_DEFAULTS

__all__ = ["RECORD_MODES", "ModelSetting", "by_language", "model_setting", "parameters", "record_mode"]

RECORD_MODES = ("none", "once", "new_episodes", "all")
"""The record modes of VCR."""

_NAME = re.compile(r"[\w.-]*\s*=?")


@dataclass(frozen=True, slots=True)
class ModelSetting:
    """A model that the options name.

    Attributes:
        name: its litellm name; None if no option names a model.
        params: the parameters of every call.
        retry: the limits of retries that are set: ``attempts`` and ``deadline_s``.
    """

    name: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    retry: Mapping[str, Any] = field(default_factory=dict)


def model_setting(
    name: str | None, lines: Sequence[str], where: str, defaults: Mapping[str, Any] = CHAT_DEFAULTS
) -> ModelSetting:
    """Return a model with parameters from lines ``name = value``; a value is JSON or plain text.

    Parameters that no line sets come from ``defaults``: temperature 0.

    Raises:
        SettingError: a line has no equals sign, repeats a parameter, or has an invalid number.
    """
    params, retry = check_parameters(parameters(lines, where, "max_tokens = 512"), where)
    return ModelSetting(name or None, {**defaults, **params}, retry)


def parameters(lines: Sequence[str], where: str, example: str) -> dict[str, Any]:
    """Parse lines ``name = value``; a value is JSON or plain text.

    Raises:
        SettingError: a line has no equals sign, or repeats a parameter.
    """
    params: dict[str, Any] = {}
    for line in lines:
        key, equals, text = (part.strip() for part in line.partition("="))
        if not key or not equals or not text:
            raise SettingError(
                f"{where} has the line {short_repr(_begin(line))}; write 'name = value', for instance {example!r}"
            )
        if key in params:
            raise SettingError(f"{where} gives {short_repr(key)} twice; give it once")
        params[key] = _value(text)
    return params


def record_mode(mode: str, where: str) -> str | None:
    """Return the mode, or None for ""; raise `UnknownNameError` for an unknown mode."""
    if mode and mode not in RECORD_MODES:
        raise UnknownNameError("record mode", mode, RECORD_MODES, where)
    return mode or None


def by_language(lines: Sequence[str], where: str, example: str) -> dict[str, tuple[str, ...]]:
    """Parse lines ``language: text`` into language -> texts; raise `SettingError` for malformed lines."""
    texts: dict[str, tuple[str, ...]] = {}
    for line in lines:
        language, _, text = (part.strip() for part in line.partition(":"))
        if not language or not text:
            raise SettingError(
                f"{where} has the line {short_repr(line)}; write 'language: text', for instance {example!r}"
            )
        texts[language] = (*texts.get(language, ()), text)
    return texts


def _begin(line: str) -> str:
    """Return a line up to its first word or equals sign; the rest may be a secret, such as an API key."""
    line = line.strip()
    begin = _NAME.match(line)[0]  # type: ignore[index] # the pattern also matches the empty string
    return begin if begin == line else f"{begin.rstrip()} ...".strip()


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
