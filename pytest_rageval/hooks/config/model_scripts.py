"""Find and read scripts: models named ``script:FILE.toml`` that reply from a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.config.fixture_overrides import EMBEDDER
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.model.chat import EMBEDDED, SCRIPT

if TYPE_CHECKING:
    from pytest_rageval.llm.scripts.script_file import ScriptReply
    from pytest_rageval.llm.scripts.script_model import ScriptModel
    from pytest_rageval.systems.embedded.model import EmbeddedModel

__all__ = ["Scripts", "is_offline", "is_script"]


def is_script(name: str | None) -> bool:
    """Return whether a model's name is that of a script."""
    return (name or "").startswith(SCRIPT)


def is_offline(name: str | None) -> bool:
    """Return whether a model needs no provider, no retries and no recordings: a script, or ``embedded``."""
    return name == EMBEDDED or is_script(name)


class Scripts:
    """Finds the files of scripts and reads each once.

    A file on the command line is searched in the folder where pytest starts, and a file in the ini in the ini's folder.
    If it is missing there, it is searched in the rootdir.

    Args:
        options: settings of the command line and the ini.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._replies: dict[str, tuple[ScriptReply, ...]] = {}

    def read(self, name: str) -> tuple[ScriptReply, ...]:
        """Return the replies of a script; raise `RagEvalError` if its file is missing or invalid."""
        if name not in self._replies:
            from pytest_rageval.datasets.source import shown_path
            from pytest_rageval.llm.scripts.script_file import read_script

            path = self.path(name)
            self._replies[name] = read_script(path, shown_path(path))
        return self._replies[name]

    def model(self, name: str) -> ScriptModel | EmbeddedModel:
        """Return a model that needs no provider: a script or ``embedded``."""
        if name == EMBEDDED:
            from pytest_rageval.systems.embedded.model import EmbeddedModel

            return EmbeddedModel()
        from pytest_rageval.llm.scripts.script_model import ScriptModel

        return ScriptModel(name, self.read(name))

    def check(self, models: Iterable[tuple[str, str]]) -> None:
        """Read all scripts among ``models``, which are (fixture, name); raise `RagEvalError` if one cannot be used."""
        for fixture, name in models:
            if is_script(name) and fixture == EMBEDDER:
                raise SettingError(f"rag_embedder_model is {name}, and a script embeds no texts; name another model")
            if is_script(name):
                self.read(name)

    def path(self, name: str) -> Path:
        """Return the file of a script; raise `SettingError` if it is missing."""
        options, file = self._options, name.removeprefix(SCRIPT).strip()
        rootdir, invoked = options.folders
        base = invoked if name in options.cli_models else options.ini_folder
        path = next((path for folder in (base, rootdir) if (path := folder / file).is_file()), None)
        if path is None or not file:
            problem = f"there is no file {short_repr(file)}; correct the path"
            raise SettingError(f"the model {name} cannot be used: {problem}", code="RAG105")
        return path
