"""Build an environment from a user's functions: the kind ``module:attr``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_rageval.environments.environment import TIMEOUT_S, Environment
from pytest_rageval.environments.mcp import is_server
from pytest_rageval.environments.outages import is_outage
from pytest_rageval.environments.parts import EnvironmentParts
from pytest_rageval.environments.signatures import function_schema
from pytest_rageval.environments.tool import Tool
from pytest_rageval.errors import CaseError, SettingError, short_repr
from pytest_rageval.importing import SPEC, cause_text, import_object

__all__ = ["build", "environment_of", "is_reference"]

Make = Callable[[], Sequence[Tool]]

FORMS = "a function, a list of functions, an object or a class with public methods, or a mapping of name to function"


def is_reference(kind: str) -> bool:
    """Return whether a kind has the form ``module:attr``."""
    return SPEC.fullmatch(kind) is not None


def build(parts: EnvironmentParts) -> Environment:
    """Return the environment for a user's ``module:attr``.

    Options: ``timeout`` and ``record``.

    Raises:
        SettingError: it cannot be imported, it has no tools, or a function has no JSON schema.
    """
    timeout = parts.options.seconds("timeout", TIMEOUT_S)
    record = parts.options.flag("record", default=False)
    parts.options.finish()
    form = SPEC.fullmatch(parts.kind)
    if form is None:
        raise SettingError(f"{parts.where}: {short_repr(parts.kind)} is not written as module:attribute")
    value, where = import_object(form, parts.where), f"{parts.where}: {parts.kind}"
    return environment_of(parts.name, value, where, timeout, record=record)


def environment_of(
    name: str, value: object, where: str, timeout: float | None = None, *, record: bool = False
) -> Environment:
    """Return the environment for a user's value, one of `FORMS`; a class is instantiated for each case.

    The value may also be a server object of the package mcp, which then runs in this process.

    Raises:
        SettingError: the value has no tools, or a function has no JSON schema; the message starts with ``where``.
    """
    if isinstance(value, Environment):
        return value
    timeout = TIMEOUT_S if timeout is None else timeout
    if is_server(value):
        from pytest_rageval.environments.mcp.kind import server_environment

        return server_environment(name, value, where, timeout, record=record)
    make = _tools_of(value, where)
    stateless = isinstance(value, Mapping | list | tuple | Tool) or inspect.isroutine(value)
    return Environment(name, lambda: make, timeout, record, has_state=not stateless)


def _tools_of(value: object, where: str) -> Make:
    """Return the function that makes the tools of one case."""
    if isinstance(value, type):
        return _of_class(value, where)
    if isinstance(value, Mapping):
        tools = [_tool(each, name, f"{where}: {name}") for name, each in value.items()]
    elif isinstance(value, list | tuple):
        tools = [_listed(each, where) for each in value]
    elif isinstance(value, Tool) or inspect.isroutine(value):
        tools = [_listed(value, where)]
    else:
        names = [] if type(value).__module__ == "builtins" else _public_methods(type(value))
        tools = [_tool(getattr(value, name), name, f"{where}.{name}") for name in names]
    if not tools:
        raise SettingError(f"{where}: {short_repr(value)} has no tools; give {FORMS}")
    names = [tool.name for tool in tools]
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        raise SettingError(f"{where} has two tools {duplicate!r}; rename one")
    return lambda: tools


def _listed(value: object, where: str) -> Tool:
    if isinstance(value, Tool):
        return value
    name = getattr(value, "__name__", None)
    if not inspect.isroutine(value) or not isinstance(name, str):
        raise SettingError(f"{where}: {short_repr(value)} is not a function; give {FORMS}")
    return _tool(value, name, f"{where}: {name}")


def _tool(value: object, name: object, where: str) -> Tool:
    if isinstance(value, Tool):
        return value
    if not callable(value):
        raise SettingError(f"{where}: {short_repr(value)} cannot be called; give a function")
    description, schema = function_schema(value, where)
    return _build_tool(name, description, schema, value, where)


def _build_tool(name: Any, description: str, schema: Mapping[str, Any], call: Callable[..., Any], where: str) -> Tool:
    try:
        return Tool(name, description, schema, call)
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from None


def _of_class(cls: type, where: str) -> Make:
    """Return a function that makes the tools of one case over a new instance of a class.

    The first call of the case creates the instance, in the thread of the tools.
    """
    names = _public_methods(cls)
    if not names:
        raise SettingError(f"{where}: the class has no public methods; give {FORMS}")
    required = _required_parameter(cls)
    if required:
        raise SettingError(f"{where}: each case instantiates the class, and it needs {required}; give it a default")
    schemas = {
        name: function_schema(getattr(cls, name), f"{where}.{name}", has_self=_has_self(cls, name)) for name in names
    }

    def make() -> list[Tool]:
        instance = functools.cache(functools.partial(_instance, cls, where))
        return [
            _build_tool(name, *schemas[name], functools.partial(_call_method, instance, name), f"{where}.{name}")
            for name in names
        ]

    make()  # raises for invalid names
    return make


def _call_method(instance: Callable[[], object], method: str, /, **arguments: Any) -> Any:
    return getattr(instance(), method)(**arguments)


def _instance(cls: type, where: str) -> object:
    try:
        return cls()
    except Exception as error:
        if isinstance(error, CaseError) or is_outage(error):
            raise
        message = f"{where}: the class cannot be instantiated ({cause_text(error)}); correct its constructor"
        raise CaseError("environment_error", message) from error


def _required_parameter(cls: type) -> str | None:
    """Return the first required parameter of a class's constructor; None if there is none."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):  # some classes written in C have no signature
        return None
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return next((each.name for each in parameters if each.default is each.empty and each.kind not in optional), None)


def _has_self(cls: type, name: str) -> bool:
    return not isinstance(inspect.getattr_static(cls, name), staticmethod | classmethod)


def _public_methods(cls: type) -> list[str]:
    """Return the names of the public methods, in the order of definition."""
    names = dict.fromkeys(name for each in reversed(cls.__mro__) for name in vars(each) if not name.startswith("_"))
    return [name for name in names if inspect.isroutine(getattr(cls, name, None))]
