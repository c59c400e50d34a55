"""Fixtures of the tests of pages; `support` defines them."""

from support.browser.opened_pages import chromium, golden, opened  # noqa: F401
from support.servers.page_process import served  # noqa: F401
