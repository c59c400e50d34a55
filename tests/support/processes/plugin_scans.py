"""Faster searches of plugins for hooks and fixtures, which take half of the time of a small run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType, MethodType, ModuleType
from typing import Any

import pluggy._manager
from _pytest.fixtures import FixtureFunctionDefinition, FixtureManager

__all__ = ["argument_names", "hook_attribute", "hook_names", "parsefactories"]

Names = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of a function's arguments without a default, and with one."""

PACKAGES = ("_pytest", "pytest_rageval", "xdist")
"""Packages that define their fixtures without anything that pytest warns about."""

_search: Callable[..., None] = FixtureManager.parsefactories
_lookup: Callable[[object, str], object] = vars(pluggy._manager).get("_static_hook_attr", getattr)
_names: Callable[[object], Names] = pluggy._hooks.varnames


def hook_attribute(plugin: object, name: str) -> object:
    """Replace pluggy's `_static_hook_attr`: take a plain function as it is, without asking every base class."""
    if type(plugin) is ModuleType:
        function = vars(plugin).get(name)
        return (function, function) if type(function) is FunctionType else _lookup(plugin, name)
    kind = type(plugin)
    if not _is_known(kind.__module__) or name in getattr(plugin, "__dict__", ()):
        return _lookup(plugin, name)
    function = next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)
    return (function, function.__get__(plugin)) if type(function) is FunctionType else _lookup(plugin, name)


def hook_names(plugin: object) -> Sequence[str]:
    """Replace `dir` in pluggy: for modules and objects of `PACKAGES`, return only the names of hooks."""
    if type(plugin) is ModuleType:
        return _hooks_of(plugin) if _is_known(plugin.__name__) else dir(plugin)
    kind: Any = type(plugin)
    return _hooks_of(kind) if _is_known(kind.__module__) and not isinstance(plugin, type) else dir(plugin)


def argument_names(function: object) -> Names:
    """Replace pluggy's `varnames`: cache the result for functions and methods of `PACKAGES`."""
    if type(function) is MethodType and type(function.__func__) is FunctionType and _is_known(function.__module__):
        return _names_of(function.__func__, is_bound=True)
    is_known = type(function) is FunctionType and _is_known(function.__module__)
    return _names_of(function, is_bound=False) if is_known else _names(function)


def parsefactories(manager: FixtureManager, *args: Any, **kwargs: Any) -> None:
    """Replace `FixtureManager.parsefactories`: for a plugin of `PACKAGES`, look only at its fixtures."""
    if "holder" in kwargs:
        kwargs["holder"] = _fixtures_of(kwargs["holder"])
    _search(manager, *args, **kwargs)


@cache
def _hooks_of(owner: object) -> Sequence[str]:
    return [name for name in dir(owner) if name.startswith("pytest_")]


@cache
def _names_of(function: FunctionType, *, is_bound: bool) -> Names:
    return _names(MethodType(function, object()) if is_bound else function)


def _fixtures_of(plugin: object) -> object:
    """Return a module with the fixtures of ``plugin``, or the plugin itself."""
    if isinstance(plugin, ModuleType):
        return _module_of(vars(plugin)) if _is_known(plugin.__name__) else plugin
    classes = type(plugin).__mro__
    if not _is_known(type(plugin).__module__) or any(map(_fixtures_in, map(vars, classes))):
        return plugin
    return _module_of({})


def _module_of(values: Mapping[str, object]) -> ModuleType:
    module = ModuleType("fixtures")
    vars(module).update(_fixtures_in(values))
    return module


def _fixtures_in(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if type(value) is FixtureFunctionDefinition}


def _is_known(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES
