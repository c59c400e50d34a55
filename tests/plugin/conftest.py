"""Fixtures of the plugin tests, defined in `support.projects`."""

from support.projects.rag_project import mode, project  # noqa: F401
