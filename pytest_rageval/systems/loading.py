"""Import a system named ``module:attribute``."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from pytest_rageval.errors import SettingError, ascii_safe, did_you_mean, short_repr
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.adapters import adapted_system

__all__ = ["load_system"]

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_SPEC = re.compile(f"({_NAME}):({_NAME})")


def load_system(spec: str) -> System:
    """Import the system ``package.module:attribute``; the attribute may be dotted.

    A class is instantiated without arguments. The import path is ``sys.path``, as pytest has set it.

    Raises:
        SettingError: ``spec`` is malformed, cannot be imported, or its value cannot be called.
    """
    where = f"rag_system {short_repr(spec)}"
    form = _SPEC.fullmatch(spec)
    if form is None:
        raise SettingError(f"{where}: a system is a registered name or module:attribute, such as app.rag:answer")
    module, attribute = form.groups()
    value = _attribute(_module(module, where), attribute, where)
    if isinstance(value, type):
        value = _instance(value, where)
    system = adapted_system(value)
    if system is None:
        raise SettingError(
            f"{where}: {type(value).__name__} {short_repr(value)} cannot be called; name a function or a class"
        )
    return system


def _module(name: str, where: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise SettingError(f"{where}: importing {name!r} failed with {_cause(error)}") from error
        raise SettingError(
            f"{where}: no module {error.name!r}; install it, or add its folder to pytest's pythonpath "
            "(the rootdir and the directory pytest was started in are importable too)"
        ) from error
    except (Exception, SystemExit) as error:
        raise SettingError(f"{where}: importing {name!r} failed with {_cause(error)}") from error


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


def _instance(cls: Callable[[], object], where: str) -> object:
    try:
        return cls()
    except Exception as error:
        raise SettingError(
            f"{where}: the class cannot be instantiated without arguments ({_cause(error)}); "
            "name a function or an instance instead"
        ) from error


def _cause(error: BaseException) -> str:
    """Return the type of an error and the first line of its message."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {ascii_safe(lines[0])}" if lines else type(error).__name__
