"""Parse ``rag_environments``: the environments of agents, their kinds and their options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rageval.errors import SettingError, short_repr

__all__ = ["ENVIRONMENTS", "EnvironmentLine", "environments"]

ENVIRONMENTS = "rag_environments"
"""The name of the ini setting."""

_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class EnvironmentLine:
    """One line of ``rag_environments``.

    Attributes:
        name: the environment's name.
        kind: a built-in kind, or ``module:attr``.
        options: its options.
    """

    name: str
    kind: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return it as in the ini, without the name."""
        return "; ".join([self.kind, *(f"{key}={value}" for key, value in self.options.items())])

    @property
    def where(self) -> str:
        """The begin of messages about it."""
        return f"{ENVIRONMENTS}: {self.name}"


def environments(lines: Sequence[str]) -> dict[str, EnvironmentLine]:
    """Parse lines ``name: kind; option=value`` into name -> environment.

    Raises:
        SettingError: a line is malformed, or repeats a name or an option.
    """
    found: dict[str, EnvironmentLine] = {}
    for line in lines:
        name, _, text = (part.strip() for part in line.partition(":"))
        kind, *options = (part.strip() for part in text.split(";"))
        if not _NAME.fullmatch(name) or not kind:
            hint = "write 'name: kind; option=value', for instance 'wiki: wiki; corpus=pages.jsonl'"
            raise SettingError(f"{ENVIRONMENTS} has the line {short_repr(line)}; {hint}")
        if name in found:
            raise SettingError(f"{ENVIRONMENTS} has two lines for {short_repr(name)}; write one")
        found[name] = EnvironmentLine(name, kind, _options(options, f"{ENVIRONMENTS}: {name}"))
    return found


def _options(texts: Iterable[str], where: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        if not key or not value:
            raise SettingError(f"{where} has the option {short_repr(text)}; write option=value")
        if key in options:
            raise SettingError(f"{where} gives {short_repr(key)} twice; give it once")
        options[key] = value
    return options
