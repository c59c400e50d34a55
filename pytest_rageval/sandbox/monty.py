"""The sandbox ``monty``: Monty, a Python interpreter written in Rust, in its own process.

Programs in it have no files, no network, no environment variables and none of our modules. Monty supports a part of
Python: no ``yield``, no ``del`` and no inheritance. The modules ``json re math datetime collections itertools
functools`` are available; ``statistics``, ``string``, ``operator`` and ``sys.exit`` are not.
"""

from __future__ import annotations

from importlib.util import find_spec

from pytest_rageval.errors import SettingError
from pytest_rageval.sandbox.processes import ProcessSandbox, python_command
from pytest_rageval.sandbox.protocol import Sandbox

__all__ = ["build"]


def build(needed_by: str) -> Sandbox:
    """Return the sandbox; its first process starts with the first program.

    Raises:
        SettingError: pydantic-monty is not installed.
    """
    if find_spec("pydantic_monty") is None:
        raise SettingError(
            f'{needed_by} needs a sandbox: pip install "pytest-rageval[agents]", or set rag_sandbox', code="RAG106"
        )
    return ProcessSandbox("monty", python_command("pytest_rageval.sandbox.monty_process:main"))
