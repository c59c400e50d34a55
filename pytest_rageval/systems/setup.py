"""The setup of a named system, known before anything runs: its options and file folders."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.errors import SettingError, short_repr

__all__ = ["SystemSetup"]


@dataclass(frozen=True, slots=True)
class SystemSetup:
    """The options and file folders of a named system.

    Attributes:
        where: the beginning of messages, for example "rag_systems: react-mini".
        options: the options of its line in ``rag_systems``.
        argument: the text after ``chain:`` in the name; "" for other systems.
        folders: the folders in which its relative paths are searched, in order.
        sandbox: the value of ``rag_sandbox``.
    """

    where: str = "--rag-system"
    options: ComponentOptions = field(default_factory=lambda: ComponentOptions({}, "--rag-system"))
    argument: str = ""
    folders: tuple[Path, ...] = ()
    sandbox: str = "monty"

    def file(self, text: str) -> Path:
        """Return the path of a file that an option names; raise `SettingError` if it is missing."""
        for folder in self.folders or (Path(),):
            path = folder / text
            if path.is_file():
                return path
        raise SettingError(f"{self.where}: there is no file {short_repr(text)}; correct the path", code="RAG105")
