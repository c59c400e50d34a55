"""Fixtures of the tests of README and docs/, defined in `support.projects`."""

from support.projects.rag_project import project  # noqa: F401
