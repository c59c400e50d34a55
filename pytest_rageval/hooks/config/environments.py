"""Parse ``rag_environments``: the environments of agents, their kinds and their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.config.named_lines import NAME, options_in

__all__ = ["ENVIRONMENTS", "EnvironmentLine", "environments"]

ENVIRONMENTS = "rag_environments"
"""The name of the ini setting."""


@dataclass(frozen=True, slots=True)
class EnvironmentLine:
    """One line of ``rag_environments``.

    Attributes:
        name: the environment's name.
        kind: a built-in kind, or ``module:attr``.
        options: option -> value.
    """

    name: str
    kind: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the line as in the ini, without the name."""
        return "; ".join([self.kind, *(f"{key}={value}" for key, value in self.options.items())])

    @property
    def where(self) -> str:
        """The start of error messages about this line."""
        return f"{ENVIRONMENTS}: {self.name}"


def environments(lines: Sequence[str]) -> dict[str, EnvironmentLine]:
    """Parse lines ``name: kind; option=value`` into name -> environment.

    Raises:
        SettingError: a line is malformed, or repeats a name or an option.
    """
    by_name: dict[str, EnvironmentLine] = {}
    for line in lines:
        name, _, text = (part.strip() for part in line.partition(":"))
        kind, *options = (part.strip() for part in text.split(";"))
        if not NAME.fullmatch(name) or not kind:
            hint = "write 'name: kind; option=value', for instance 'wiki: wiki; corpus=pages.jsonl'"
            raise SettingError(f"{ENVIRONMENTS} has the line {short_repr(line)}; {hint}")
        if name in by_name:
            raise SettingError(f"{ENVIRONMENTS} has two lines for {short_repr(name)}; write one")
        by_name[name] = EnvironmentLine(name, kind, options_in(options, f"{ENVIRONMENTS}: {name}"))
    return by_name
