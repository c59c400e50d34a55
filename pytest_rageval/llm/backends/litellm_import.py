"""Importing litellm: late, once, and without what it does on the side."""

from __future__ import annotations

import atexit
import gc
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from pytest_rageval.errors import MissingDependencyError

__all__ = ["litellm", "set_aside"]

SELDOM = 500_000
"""How many more objects there are before a collection while litellm is imported."""

_VARIABLES = {
    "LITELLM_MODE": "PRODUCTION",  # anything else reads a .env file into the environment
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # anything else downloads the price map
}
"""What litellm reads while it is imported."""
_WRITTEN = (*_VARIABLES, "TIKTOKEN_CACHE_DIR")
"""What the import may change in the environment; litellm writes the last."""
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")

_lock = threading.Lock()
_ready: ModuleType | None = None


def litellm() -> ModuleType:
    """Return litellm, imported by the first who asks; the others wait.

    No ``.env`` is read, nothing downloaded, nothing printed and no warning given, and the environment is afterwards
    what it was before.
    """
    global _ready
    with _lock:
        if _ready is None:
            _ready = _quiet(_imported())
        return _ready


def set_aside() -> None:
    """Keep litellm out of the several collections in which pytest looks for garbage when all tests have ended.

    Each would take a seventh of a second for its hundreds of thousands of objects. What is garbage now is collected as
    ever. When the process ends all is let go again, as what has a finalizer counts on the modules that it needs.
    """
    if _ready is not None:
        gc.collect()
        gc.freeze()
        atexit.register(gc.unfreeze)


def _imported() -> ModuleType:
    try:
        with _seldom_collected(), _environment(), _without_warnings():
            module: Any = import_module("litellm")
            module.ModelResponse()  # the first one warns as well
            _ = module.encoding  # the first call would load it, while the event loop stands still
    except ModuleNotFoundError as error:
        if error.name != "litellm":
            raise
        raise MissingDependencyError("asking a model", "llm") from None
    found: ModuleType = module
    return found


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Have the garbage collector look seldom at what is imported, as all of it lasts: a quarter of the import."""
    often, *others = gc.get_threshold()
    if not often:  # it is off
        yield
        return
    gc.set_threshold(SELDOM, *others)
    try:
        yield
    finally:
        if gc.get_threshold()[0] == SELDOM:
            gc.set_threshold(often, *others)


@contextmanager
def _environment() -> Iterator[None]:
    """Set the variables that litellm's import reads, and restore those that it may change."""
    before = {name: os.environ.get(name) for name in _WRITTEN}
    os.environ.update(_VARIABLES)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Drop the warnings of this thread; filters would be those of all threads, and a test's own."""
    real, here = warnings.warn, threading.get_ident()

    def warn(message: Any, category: Any = None, stacklevel: int = 1, *source: Any, **more: Any) -> None:
        if not (_lock.locked() and threading.get_ident() == here):
            real(message, category, stacklevel + 1, *source, **more)

    warnings.warn = warn
    try:
        yield
    finally:
        if warnings.warn is warn:
            warnings.warn = real


def _quiet(module: Any) -> ModuleType:
    module.suppress_debug_info = True
    if hasattr(module, "telemetry"):
        module.telemetry = False
    if "LITELLM_LOG" not in os.environ:
        import logging

        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
    found: ModuleType = module
    return found
