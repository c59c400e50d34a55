"""Load an agent's prompts by language: built-in texts with a user's replacements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, UnknownNameError, short_repr
from pytest_rageval.text.placeholders import fill, placeholders
from pytest_rageval.toml_files import line_of, read_toml

__all__ = ["AgentPrompts", "load_agent_prompts"]

EXAMPLE = "example"
"""The key of the worked examples: a list of texts."""


@dataclass(frozen=True, slots=True)
class AgentPrompts:
    """The texts of an agent; a language without texts uses the English ones.

    Attributes:
        texts: language -> key -> text.
        examples: language -> worked examples, as texts.
    """

    texts: Mapping[str, Mapping[str, str]]
    examples: Mapping[str, tuple[str, ...]]

    def text(self, key: str, language: str, values: Mapping[str, str]) -> str:
        """Return a text with ``values`` filled in, trimmed."""
        return fill(self.texts.get(language, self.texts["en"])[key], values).strip()

    def examples_text(self, language: str, count: int) -> str:
        """Return the first ``count`` worked examples, separated by a blank line."""
        return "\n\n".join(self.examples.get(language, self.examples["en"])[:count])


def load_agent_prompts(folder: Path, keys: Mapping[str, tuple[str, ...]], override: Path | None = None) -> AgentPrompts:
    """Return an agent's prompts.

    Args:
        folder: the folder with ``en.toml`` and ``zh.toml``, the built-in texts.
        keys: the key of each text -> its required placeholders.
        override: a user's TOML file; each of its texts replaces the built-in text in every language.

    Raises:
        DataError: the user's file is not valid TOML, or a text is invalid.
        UnknownNameError: the user's file has an unknown key.
    """
    built_in = {path.stem: _read(path, path.name, keys) for path in sorted(folder.glob("*.toml"))}
    overrides = {} if override is None else _read(override, shown_path(override), keys)
    texts = {
        language: {**{key: each[key] for key in keys}, **{key: overrides[key] for key in keys if key in overrides}}
        for language, each in built_in.items()
    }
    examples = {language: tuple(overrides.get(EXAMPLE, each.get(EXAMPLE, ()))) for language, each in built_in.items()}
    return AgentPrompts(texts, examples)


def _read(path: Path, shown: str, keys: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    lines, values = read_toml(path, shown)
    for key, value in values.items():
        where = f"{shown}:{line_of(lines, key, 0, '')}"
        if key == EXAMPLE:
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise DataError(where, f"{key}: found {short_repr(value)}, wanted a list of texts")
            continue
        if key not in keys:
            raise UnknownNameError("key", key, [*keys, EXAMPLE], where)
        if not isinstance(value, str):
            raise DataError(where, f"{key}: found {short_repr(value)}, wanted a string")
        for name in keys[key]:
            if name not in placeholders(value):
                raise DataError(where, f"{key}: the placeholder {{{name}}} is missing; add it")
    return values
