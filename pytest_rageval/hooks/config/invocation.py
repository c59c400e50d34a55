"""How pytest was called: folder, ini, models, and whether for a part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = [
    "cli_models",
    "folders",
    "ini_folder",
    "ini_origin",
    "invoked_from",
    "is_apart",
    "is_debugged",
    "is_narrowed",
]


def ini_folder(config: pytest.Config) -> Path:
    """Return the folder that paths of the ini are relative to."""
    return config.inipath.parent if config.inipath else config.rootpath


def invoked_from(config: pytest.Config) -> Path:
    """Return the folder that paths of the command line are relative to, in a worker's copy of the project, too."""
    path: str | None = getattr(config, "workerinput", {}).get("rag_from")
    return config.invocation_params.dir if path is None else Path(os.path.normpath(config.rootpath / path))


def folders(config: pytest.Config) -> tuple[Path, Path]:
    """Return the folders with modules of systems, searched after ``sys.path``: first the rootdir."""
    return config.rootpath, invoked_from(config)


def ini_origin(config: pytest.Config, name: str) -> str:
    """Return a setting's place, such as ``pytest.ini:3: rag_cluster``; only its name if ``-o`` sets it."""
    path = config.inipath
    if path is None or any(str(line).startswith(f"{name}=") for line in config.option.override_ini or ()):
        return name
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    at = next((at for at, line in enumerate(lines, 1) if line.partition("=")[0].strip() == name), None)
    return name if at is None else f"{path.name}:{at}: {name}"


def cli_models(config: pytest.Config) -> frozenset[str]:
    """Return the models that the command line names, including those of systems such as ``NAME@MODEL``."""
    session_models = config.option.rag_model, config.option.rag_judge_model
    system_models = (str(system).partition("@")[2] for system in config.option.rag_system)
    return frozenset(str(name).strip() for name in (*session_models, *system_models) if name)


def is_narrowed(config: pytest.Config) -> bool:
    """Return whether only a part of the project runs; a worker gets the value from the controller."""
    from_controller: bool | None = getattr(config, "workerinput", {}).get("rag_narrowed")
    if from_controller is not None:
        return from_controller
    if getattr(config.option, "lf", False):
        return True
    here = config.invocation_params.dir
    return config.args_source is pytest.Config.ArgsSource.ARGS and config.rootpath not in (
        Path(os.path.abspath(here / argument)) for argument in config.args
    )


def is_apart(config: pytest.Config) -> bool:
    """Return whether cases of one testbed may run on several machines without shared files."""
    shares_nothing: bool = getattr(config, "workerinput", {}).get("rag_apart", False)
    return shares_nothing


def is_debugged(config: pytest.Config) -> bool:
    """Return whether pytest starts a debugger."""
    return bool(config.option.usepdb or config.option.trace)
