"""Which of the plugin's fixtures a test overrides, and with what.

pytest has no public way to ask; this is the one place that looks.
"""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["PARTS", "overridden"]

PARTS = ("rag_corpus", "rag_retriever", "rag_generator")
"""The fixtures that the default system is made of."""


def overridden(name: str, node: pytest.Item) -> pytest.FixtureDef[Any] | None:
    """Return the user's definition of the fixture ``name`` that is in force for ``node``; None when it is ours."""
    found = node.session._fixturemanager.getfixturedefs(name, node)
    theirs = found and found[-1].func.__module__ != "pytest_rageval.hooks.fixtures"
    return found[-1] if found and theirs else None
