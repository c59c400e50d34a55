"""Sandboxes, which run programs that a model has written; one module for each sandbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rageval.sandbox.protocol import Sandbox

__all__ = ["BUILTIN", "SandboxFactory", "open_sandbox"]

SandboxFactory = Callable[[str], "Sandbox"]
"""Builds a sandbox; its argument names the system that needs it, for the message if the backend is missing."""

BUILTIN: dict[str, str] = {
    "monty": "pytest_rageval.sandbox.monty:build",
    "bubblewrap": "pytest_rageval.sandbox.bubblewrap:build",
}
"""Value of ``rag_sandbox`` -> ``"module:attribute"`` of its `SandboxFactory`, for a `Registry`."""


def open_sandbox(name: str, needed_by: str) -> Sandbox:
    """Return the sandbox of this name; the caller closes it at the end of the session.

    There is no fall-back: a missing backend is an error.

    Args:
        name: the value of ``rag_sandbox``.
        needed_by: the system that needs it (``pal``), for the message.

    Raises:
        SettingError: the name is unknown or its backend is not installed.
    """
    from pytest_rageval.registry import Registry

    return Registry[SandboxFactory]("sandbox", BUILTIN).get(name, "rag_sandbox")(needed_by)
