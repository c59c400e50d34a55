"""Importing litellm: late, once, and without what it does on the side."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from pytest_rageval.errors import MissingDependencyError

__all__ = ["litellm", "preload", "set_aside"]

SELDOM = 500_000
"""How many more objects there are before a collection while litellm is imported."""

_ANSWERS = {
    "LITELLM_MODE": "PRODUCTION",  # anything else reads a .env file into the environment
    "LITELLM_LOCAL_MODEL_COST_MAP": "true",  # anything else downloads the price map
}
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_LATER = ("litellm.proxy._types", "httpcore", "pytest_rageval.llm.backends.http_wire")
"""What the first call would import, for a quarter of a second or more in which the event loop stood still."""
_ENCODING = "litellm.litellm_core_utils.default_encoding"

_lock = threading.Lock()
_ready: ModuleType | None = None


def litellm() -> ModuleType:
    """Return litellm, imported by the first who asks; the others wait.

    No ``.env`` is read, no environment variable written, nothing downloaded, nothing printed and no warning given.
    litellm asks `os.getenv` about the first and the third, so that answers two names otherwise while the import lasts.
    """
    global _ready
    with _lock:
        if _ready is None:
            _ready = _quiet(_imported())
        return _ready


def preload() -> threading.Thread:
    """Start the import on a thread, and return that; an error of it is raised where `litellm` is called."""
    thread = threading.Thread(target=_preloaded, name="rageval-litellm", daemon=True)
    thread.start()
    return thread


def set_aside() -> None:
    """Keep litellm out of the several collections in which pytest looks for garbage when all tests have ended.

    Each would take a seventh of a second for its hundreds of thousands of objects. What is garbage now is collected as
    ever. When the process ends all is let go again, as what has a finalizer counts on the modules that it needs.
    """
    if _ready is not None:
        gc.collect()
        gc.freeze()
        atexit.register(gc.unfreeze)


def _preloaded() -> None:
    with suppress(Exception):  # who needs litellm imports it again, and gets the error
        litellm()


def _imported() -> ModuleType:
    sys.modules.setdefault(_ENCODING, _Encoding(_ENCODING))
    try:
        with _seldom_collected(), _replaced(os, "getenv", _answering), _replaced(warnings, "warn", _silent):
            module: Any = import_module("litellm")
            module.ModelResponse()  # the first one warns as well
            for name in _LATER:
                with suppress(ImportError):  # then the first call does not need it
                    import_module(name)
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
def _replaced(owner: Any, name: str, stand_in: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """Have a function of a module behave otherwise for a while."""
    real = getattr(owner, name)
    other = stand_in(real)
    setattr(owner, name, other)
    try:
        yield
    finally:
        if getattr(owner, name) is other:
            setattr(owner, name, real)


def _answering(real: Callable[..., Any]) -> Callable[..., Any]:
    def getenv(key: str, default: object = None) -> object:
        return _ANSWERS[key] if key in _ANSWERS else real(key, default)

    return getenv


def _silent(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `warnings.warn` for the import alone; filters would be those of all threads, and a test's own."""
    here = threading.get_ident()

    def warn(message: Any, category: Any = None, stacklevel: int = 1, *source: Any, **more: Any) -> None:
        if not (_lock.locked() and threading.get_ident() == here):
            real(message, category, stacklevel + 1, *source, **more)

    return warn


class _Encoding(ModuleType):
    """Stands in for litellm's own module of its default tokenizer, which writes ``TIKTOKEN_CACHE_DIR``."""

    def __getattr__(self, name: str) -> Any:
        if name != "encoding":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        from pytest_rageval.llm.backends.encodings import encoding

        return encoding("cl100k_base")


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
