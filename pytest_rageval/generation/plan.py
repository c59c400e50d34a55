"""Read a plan: what to generate from which tables and texts. Each table of the plan is read by its own module."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, did_you_mean, short_repr
from pytest_rageval.generation.section import Section, sections_of
from pytest_rageval.model.facets import TASKS
from pytest_rageval.registry import Registry
from pytest_rageval.toml_files import read_toml

__all__ = ["INTEGRATION", "LANGUAGES", "PARTS", "SHIPPED", "TASK_NAMES", "Part", "Plan", "read_plan"]

LANGUAGES = ("auto", "en", "zh")
INTEGRATION = "information_integration"
"""The ability of RGB that is also a task of generation."""

TASK_NAMES = {**{task: task for task in TASKS}, INTEGRATION: INTEGRATION, "integration": INTEGRATION}
"""Word for a task in a plan -> the task."""

KEYS = ("language", "per_cell", "seed", "tasks")


@dataclass(frozen=True, slots=True)
class Part:
    """How one table of a plan is read.

    Attributes:
        many: whether it is written ``[[name]]``, any number of times, instead of ``[name]``, once.
        read: returns its settings; receives the tables of the plan, an empty tuple if the plan has none, and the
            plan's folder, which paths are relative to. It refuses keys that it does not know (`Section.only`).
    """

    many: bool
    read: Callable[[tuple[Section, ...], Path], object]


PARTS: dict[str, str] = {
    "abilities": "pytest_rageval.generation.abilities.stage:ABILITIES",
    "corpus": "pytest_rageval.generation.corpus:PART",
    "leakage": "pytest_rageval.generation.leakage.settings:PART",
    "model": "pytest_rageval.generation.model_drafts.settings:PART",
    "names": "pytest_rageval.generation.abilities.stage:NAMES",
    "split": "pytest_rageval.generation.split:PART",
    "table": "pytest_rageval.generation.tables.table_settings:PART",
    "template": "pytest_rageval.generation.templates.template:PART",
    "topics": "pytest_rageval.generation.topics.topic_settings:PART",
    "world": "pytest_rageval.generation.scholar.world_settings:PART",
}
"""Name of a table of the plan -> ``"module:attribute"`` of its `Part`. Its module also has a function that returns its
settings from a plan with their type."""


SHIPPED = Path(__file__).parent / "plans"
"""The folder of the shipped plans."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan.

    Attributes:
        path: the file.
        shown: the file's name for messages.
        seed: decides samples and wordings.
        language: ``en``, ``zh`` or ``auto``: that of each passage.
        tasks: the wanted tasks; empty if the plan does not say.
        per_cell: the wanted number of cases of each topic and task; None for all that there are.
        parts: name of a table of the plan -> its settings, as its `Part` read them.
        digest: sha256 of the file.
    """

    path: Path
    shown: str
    seed: int = 0
    language: str = "auto"
    tasks: tuple[str, ...] = ()
    per_cell: int | None = None
    parts: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""

    @property
    def folder(self) -> Path:
        """The folder that paths of the plan are relative to."""
        return self.path.parent


def read_plan(path: Path) -> Plan:
    """Return the plan of a file, or the shipped plan of a name, such as ``scholar``.

    Raises:
        DataError: the file is unreadable, or one of its keys is unknown or has a wrong value; with file and line.
    """
    path = _file(path)
    shown = shown_path(path)
    lines, values = read_toml(path, shown)
    top = Section("", values, shown, tuple(lines))
    top.only((*KEYS, *PARTS))
    registry: Registry[Part] = Registry("table of a plan", PARTS)
    parts = {}
    for name in PARTS:
        part = registry.get(name)
        parts[name] = part.read(sections_of(top, name, many=part.many), path.parent)
    return Plan(
        path=path,
        shown=shown,
        seed=top.whole("seed", 0) or 0,
        language=top.choice("language", "auto", LANGUAGES),
        tasks=_tasks(top),
        per_cell=top.whole("per_cell", None, least=1),
        parts=MappingProxyType(parts),
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
    )


def _file(path: Path) -> Path:
    """Return the file of a plan."""
    if path.suffix == ".toml":
        return path
    shipped = {file.stem: file for file in sorted(SHIPPED.glob("*.toml"))}
    if str(path) in shipped:
        return shipped[str(path)]
    names = ", ".join(shipped)
    problem = f"the path of a plan ends in .toml; write rageval generate PLAN.toml, or name a shipped plan: {names}"
    raise DataError(shown_path(path), problem)


def _tasks(top: Section) -> tuple[str, ...]:
    names = top.texts("tasks")
    for name in names:
        if name not in TASK_NAMES:
            hint = did_you_mean(name, TASK_NAMES)
            raise top.error("tasks", f"tasks: unknown task {short_repr(name)}; {hint}")
    return tuple(dict.fromkeys(TASK_NAMES[name] for name in names))
