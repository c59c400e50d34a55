"""Parse the names of systems: ``NAME@MODEL``, and the aliases of ``rag_systems``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.config.named_lines import NAME, options_in
from pytest_rageval.model.facets import MODEL, WORKFLOW
from pytest_rageval.registry import Registry
from pytest_rageval.systems import FAMILIES, SystemFactory
from pytest_rageval.systems.workflow import Workflow, no_options

__all__ = ["SYSTEMS", "SystemName", "check_names", "model_of", "named_system", "parse_systems"]

SYSTEMS = "rag_systems"
"""The name of the ini setting."""

EXAMPLE = "'mini: llm@openai/gpt-4o-mini'"

LABELS = (WORKFLOW, MODEL)
"""The options of a user's own system; they only label its outcomes, as facets."""


@dataclass(frozen=True, slots=True)
class SystemName:
    """A system as the user names it.

    Attributes:
        name: the name in reports: an alias, or the text as written.
        system: a registered name, or ``module:attribute``.
        model: the litellm name of its own model; "" if it uses the session's model.
        options: option -> value.
    """

    name: str
    system: str
    model: str = ""
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        """Return the system as written in the ini, without the alias."""
        head = f"{self.system}@{self.model}" if self.model else self.system
        return "; ".join([head, *(f"{key}={value}" for key, value in self.options.items())])

    @property
    def is_own(self) -> bool:
        """Whether the system is a user's ``module:attribute``."""
        return ":" in self.system and self.system.partition(":")[0] not in FAMILIES


def parse_systems(lines: Sequence[str]) -> dict[str, SystemName]:
    """Parse lines ``alias: name@model; option=value`` into alias -> system.

    Raises:
        SettingError: a line is malformed, or repeats an alias or an option.
    """
    systems: dict[str, SystemName] = {}
    for line in lines:
        alias, _, text = (part.strip() for part in line.partition(":"))
        name, *options = (part.strip() for part in text.split(";"))
        if not NAME.fullmatch(alias) or not name:
            raise SettingError(
                f"{SYSTEMS} has the line {short_repr(line)}; write 'alias: name@model; option=value', for instance "
                f"{EXAMPLE}"
            )
        if alias in systems:
            raise SettingError(f"{SYSTEMS} has two lines for {short_repr(alias)}; write one")
        where = f"{SYSTEMS}: {alias}"
        system, model = _split(name, where)
        systems[alias] = SystemName(alias, system, model, options_in(options, where))
    return systems


def check_names(systems: Iterable[SystemName], registered: Registry[SystemFactory]) -> None:
    """Check aliases and options against the registered systems.

    Raises:
        SettingError: an alias is the name of a registered system, or a system does not take its model or an option.
    """
    for each in systems:
        if each.name in registered:
            raise SettingError(
                f"{SYSTEMS} has the alias {short_repr(each.name)}, which is the name of a system; choose another alias"
            )
        _check(each, f"{SYSTEMS}: {each.name}", registered)


def named_system(
    text: str, where: str, systems: Mapping[str, SystemName], registered: Registry[SystemFactory]
) -> SystemName:
    """Return the system that an option names: an alias, a registered name, ``module:attribute`` or NAME@MODEL.

    Raises:
        SettingError: the name ends with ``@``, or the system takes no model.
    """
    if text in systems:
        return systems[text]
    if text in list(registered):  # a registered name may contain an @
        return SystemName(text, text)
    named = SystemName(text, *_split(text, where))
    _check(named, where, registered)
    return named


def model_of(text: str, systems: Mapping[str, SystemName]) -> str:
    """Return the model that a system's name or alias sets; "" if it sets none."""
    return systems[text].model if text in systems else text.partition("@")[2].strip()


def _check(named: SystemName, where: str, registered: Registry[SystemFactory]) -> None:
    if named.is_own and named.model:
        label = f"'mine: {named.system}; model={named.model}'"
        raise SettingError(f"{where}: {named.system} takes no model; to label its answers, write {label} in {SYSTEMS}")
    if named.system == "extractive" and named.model:
        raise SettingError(f"{where}: extractive asks no model; remove @{named.model}")
    factory = registered.get(named.system) if named.options and named.system in registered else None
    if isinstance(factory, Workflow) and factory.read is not no_options:
        return  # the workflow checks its options itself
    for option in named.options:
        if named.is_own and option in LABELS:
            continue
        takes = f"takes only the labels {' and '.join(LABELS)}" if named.is_own else "takes no options"
        raise SettingError(f"{where} has the option {short_repr(option)}, and {named.system} {takes}; remove it")


def _split(text: str, where: str) -> tuple[str, str]:
    """Return the system and the model of ``NAME@MODEL``, split at the first @; a model's name may contain more."""
    system, at, model = (part.strip() for part in text.partition("@"))
    if not system or (at and not model):
        raise SettingError(f"{where} names the system {short_repr(text)}; write NAME or NAME@MODEL")
    return system, model
