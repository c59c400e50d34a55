"""Find files of the installed litellm package without importing it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

__all__ = ["litellm_file"]


def litellm_file(*parts: str) -> Path:
    """Return the path of a file of the installed litellm; raise `FileNotFoundError` if litellm is not installed."""
    try:
        spec = find_spec("litellm")
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        raise FileNotFoundError("litellm is not installed")
    return Path(spec.origin).parent.joinpath(*parts)
