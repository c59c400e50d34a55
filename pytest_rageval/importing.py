"""Import a user's object named ``module:attribute``."""

from __future__ import annotations

import re
from importlib import import_module
from types import ModuleType

from pytest_rageval.errors import SettingError, ascii_safe, did_you_mean

__all__ = ["SPEC", "cause_text", "import_object"]

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
SPEC = re.compile(f"({_NAME}):({_NAME})")
"""``package.module:attribute``; the attribute may be dotted."""


def import_object(spec: re.Match[str], where: str) -> object:
    """Import and return the object that a match of `SPEC` names; ``sys.path`` is the one of pytest.

    Raises:
        SettingError: the module cannot be imported, or has no such attribute; the message begins with ``where``.
    """
    module, attribute = spec.groups()
    return _attribute(_module(module, where), attribute, where)


def cause_text(error: BaseException) -> str:
    """Return the type of an error and the first line of its message."""
    try:
        lines = str(error).splitlines()
    except Exception:  # a user's exception may have a broken text
        lines = []
    return f"{type(error).__name__}: {ascii_safe(lines[0])}" if lines else type(error).__name__


def _module(name: str, where: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise SettingError(f"{where}: importing {name!r} failed with {cause_text(error)}") from error
        raise SettingError(
            f"{where}: no module {error.name!r}; install it, or add its folder to pytest's pythonpath "
            "(the rootdir and the directory pytest was started in are importable too)"
        ) from error
    except (Exception, SystemExit) as error:
        raise SettingError(f"{where}: importing {name!r} failed with {cause_text(error)}") from error


def _attribute(module: ModuleType, path: str, where: str) -> object:
    value: object = module
    place = f"module {module.__name__!r}"
    for name in path.split("."):
        try:
            value = getattr(value, name)
        except AttributeError as error:
            public = [each for each in dir(value) if not each.startswith("_")]
            raise SettingError(f"{where}: {place} has no {name!r}; {did_you_mean(name, public)}") from error
        place = repr(name)
    return value
