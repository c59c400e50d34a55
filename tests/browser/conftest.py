"""Fixtures for page tests, defined in `support.browser` and `support.projects`."""

from support.browser.opened_pages import chromium, golden, opened  # noqa: F401
from support.projects.review_project import generated_project  # noqa: F401
