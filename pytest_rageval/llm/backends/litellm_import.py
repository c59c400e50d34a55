"""Import litellm late, once, and without its side effects."""

from __future__ import annotations

import atexit
import gc
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from pytest_rageval.errors import MissingDependencyError

__all__ = ["freeze_litellm", "litellm"]

IMPORT_THRESHOLD = 500_000
"""Threshold of garbage collection during the import of litellm."""

_VARIABLES = {
    "LITELLM_MODE": "PRODUCTION",  # anything else reads a .env file into the environment
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # anything else downloads the price map
}
"""Environment variables that litellm reads during import."""
_WRITTEN = (*_VARIABLES, "TIKTOKEN_CACHE_DIR")
"""Environment variables that the import may change: those set here, and one that litellm sets."""
_LATE = ("litellm.llms.github_copilot.authenticator", "litellm.llms.github_copilot.per_user_auth")
"""Modules that the first call imports and that give warnings; some versions lack the second."""
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")

_lock = threading.Lock()
_ready: ModuleType | None = None


def litellm() -> ModuleType:
    """Return litellm; the first caller imports it while the others wait.

    The import reads no ``.env``, downloads and prints nothing, gives no warning, and restores the environment.
    """
    global _ready
    with _lock:
        if _ready is None:
            _ready = _silence(_import_litellm())
        return _ready


def freeze_litellm() -> None:
    """Exclude litellm's objects from the garbage collections that pytest runs at the end.

    With its hundreds of thousands of objects, each collection would take a seventh of a second. Current garbage is
    collected first. At process exit the objects are unfrozen, because finalizers need their modules.
    """
    if _ready is not None:
        gc.collect()
        gc.freeze()
        atexit.register(gc.unfreeze)


def _import_litellm() -> ModuleType:
    try:
        with _rare_collections(), _environment(), _without_warnings():
            module: Any = import_module("litellm")
            module.ModelResponse()  # the first call gives warnings, too
            _ = module.encoding  # otherwise the first call loads it and blocks the event loop
            for name in _LATE:
                with suppress(ImportError):
                    import_module(name)
    except ModuleNotFoundError as error:
        if error.name != "litellm":
            raise
        raise MissingDependencyError("asking a model", "llm") from None
    imported: ModuleType = module
    return imported


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Run garbage collection rarely during the import: it frees nothing, and takes a quarter of the time."""
    threshold, *others = gc.get_threshold()
    if not threshold:  # garbage collection is off
        yield
        return
    gc.set_threshold(IMPORT_THRESHOLD, *others)
    try:
        yield
    finally:
        if gc.get_threshold()[0] == IMPORT_THRESHOLD:
            gc.set_threshold(threshold, *others)


@contextmanager
def _environment() -> Iterator[None]:
    """Set the variables that litellm's import reads; restore all that it may change."""
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
    """Drop this thread's warnings; filters would affect all threads and the tests' own filters."""
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


def _silence(module: Any) -> ModuleType:
    module.suppress_debug_info = True
    if hasattr(module, "telemetry"):
        module.telemetry = False
    if "LITELLM_LOG" not in os.environ:
        import logging

        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
    silent: ModuleType = module
    return silent
