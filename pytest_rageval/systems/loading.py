"""Import a system named ``module:attribute``."""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.importing import SPEC, cause_text, import_object
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.adapters import adapt_system

__all__ = ["load_system"]


def load_system(spec: str) -> System:
    """Import the system ``package.module:attribute``; the attribute may be dotted.

    A class is instantiated without arguments. Modules are found on ``sys.path``, which pytest has set up.

    Raises:
        SettingError: ``spec`` is malformed, cannot be imported, or its value cannot be called.
    """
    where = f"rag_system {short_repr(spec)}"
    form = SPEC.fullmatch(spec)
    if form is None:
        raise SettingError(f"{where}: a system is a registered name or module:attribute, such as app.rag:answer")
    value = import_object(form, where)
    if isinstance(value, type):
        value = _instance(value, where)
    system = adapt_system(value)
    if system is None:
        raise SettingError(
            f"{where}: {type(value).__name__} {short_repr(value)} cannot be called; name a function or a class"
        )
    return system


def _instance(cls: Callable[[], object], where: str) -> object:
    try:
        return cls()
    except Exception as error:
        raise SettingError(
            f"{where}: the class cannot be instantiated without arguments ({cause_text(error)}); "
            "name a function or an instance instead"
        ) from error
