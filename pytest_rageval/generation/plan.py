"""Read a plan: what to generate from which tables and texts, one reader per TOML table."""

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

__all__ = ["INTEGRATION", "LANGUAGES", "SECTION_READERS", "SHIPPED", "TASK_NAMES", "Plan", "SectionReader", "read_plan"]

LANGUAGES = ("auto", "en", "zh")
INTEGRATION = "information_integration"
"""The only ability of RGB that is also a task of generation."""

TASK_NAMES = {**{task: task for task in TASKS}, INTEGRATION: INTEGRATION, "integration": INTEGRATION}
"""Name of a task in a plan -> the task."""

KEYS = ("language", "per_cell", "seed", "tasks")


@dataclass(frozen=True, slots=True)
class SectionReader:
    """The reader of one TOML table of a plan.

    Attributes:
        many: whether the plan may have any number of ``[[name]]``, instead of one ``[name]``.
        read: (sections, folder) -> settings. ``sections`` is empty if the plan lacks the table; paths are relative to
            ``folder``. Raises an error for unknown keys (`Section.only`).
    """

    many: bool
    read: Callable[[tuple[Section, ...], Path], object]


SECTION_READERS: dict[str, str] = {
    "abilities": "pytest_rageval.generation.abilities.stage:ABILITIES",
    "corpus": "pytest_rageval.generation.corpus:READER",
    "leakage": "pytest_rageval.generation.leakage.settings:READER",
    "model": "pytest_rageval.generation.model_drafts.settings:READER",
    "names": "pytest_rageval.generation.abilities.stage:NAMES",
    "split": "pytest_rageval.generation.split:READER",
    "table": "pytest_rageval.generation.tables.table_settings:READER",
    "template": "pytest_rageval.generation.templates.template:READER",
    "topics": "pytest_rageval.generation.topics.topic_settings:READER",
    "world": "pytest_rageval.generation.scholar.world_settings:READER",
}
"""Name of a TOML table -> ``"module:attribute"`` of its `SectionReader`. The module also has a function that returns
the typed settings of a plan."""


SHIPPED = Path(__file__).parent / "plans"
"""The folder of the built-in plans."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan for `rageval generate`.

    Attributes:
        path: the file.
        file_name: the name of the file in messages.
        seed: decides samples and wordings.
        language: ``en``, ``zh``, or ``auto`` for the language of each passage.
        tasks: the wanted tasks; empty if the plan names none.
        per_cell: the wanted number of cases of each topic and task; None for no limit.
        settings: name of a TOML table -> its settings, from its `SectionReader`.
        digest: sha256 of the file.
    """

    path: Path
    file_name: str
    seed: int = 0
    language: str = "auto"
    tasks: tuple[str, ...] = ()
    per_cell: int | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""

    @property
    def folder(self) -> Path:
        """The base folder of relative paths in the plan."""
        return self.path.parent


def read_plan(path: Path) -> Plan:
    """Read the plan in a file, or a built-in plan by its name, such as ``scholar``.

    Raises:
        DataError: the file is unreadable, or one of its keys is unknown or has a wrong value; with file and line.
    """
    path = _file(path)
    file_name = shown_path(path)
    lines, values = read_toml(path, file_name)
    top = Section("", values, file_name, tuple(lines))
    top.only((*KEYS, *SECTION_READERS))
    registry: Registry[SectionReader] = Registry("table of a plan", SECTION_READERS)
    settings = {}
    for name in SECTION_READERS:
        reader = registry.get(name)
        settings[name] = reader.read(sections_of(top, name, many=reader.many), path.parent)
    return Plan(
        path=path,
        file_name=file_name,
        seed=top.whole("seed", 0) or 0,
        language=top.choice("language", "auto", LANGUAGES),
        tasks=_tasks(top),
        per_cell=top.whole("per_cell", None, least=1),
        settings=MappingProxyType(settings),
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
    )


def _file(path: Path) -> Path:
    """Return the file of a plan: ``path``, or the built-in plan with that name."""
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
