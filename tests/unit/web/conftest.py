"""Fixtures for tests of local pages, imported from `support.servers`."""

from support.servers.served_page import served  # noqa: F401
