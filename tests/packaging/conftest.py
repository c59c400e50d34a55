"""Fixtures for tests of README, docs/ and programs, defined in `support.projects`."""

from support.projects.installed_programs import quick_program  # noqa: F401
from support.projects.rag_project import project  # noqa: F401
