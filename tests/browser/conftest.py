"""Fixtures of the tests of pages; `support.browser` defines them."""

from support.browser.opened_pages import chromium, golden, opened  # noqa: F401
