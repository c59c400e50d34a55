"""Fixtures for the tests of generation, defined in `support.projects`."""

from support.projects.plan_project import plan_project  # noqa: F401
