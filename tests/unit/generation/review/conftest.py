"""Fixtures for the tests of the review, defined in `support.projects`."""

from support.projects.review_project import generated_project  # noqa: F401
