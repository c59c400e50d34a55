"""Fixtures of the plugin tests; they stand in `rag_project`, whose names tests import."""

import pytest

pytest.register_assert_rewrite("rag_project", "compatibility_project", "plugin_checks")

from rag_project import mode, project  # noqa: E402, F401
