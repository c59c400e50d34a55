"""Describe how the dependencies of a recording have changed."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["differences"]

MAX_NAMED = 3
"""Maximum dependencies that a message names."""


def differences(recorded: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the changes, as ``rag.py changed, prompts.txt was added``; "" for none."""
    changes = [f"{name} changed" for name in sorted(recorded.keys() & now.keys()) if recorded[name] != now[name]]
    changes += [f"{name} was added" for name in sorted(now.keys() - recorded.keys())]
    changes += [f"{name} was removed" for name in sorted(recorded.keys() - now.keys())]
    rest = [f"{len(changes) - MAX_NAMED} more"] if len(changes) > MAX_NAMED else []
    return ", ".join(changes[:MAX_NAMED] + rest)
