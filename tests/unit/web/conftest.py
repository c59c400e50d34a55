"""Fixtures of the tests of local pages; `support.servers` defines them."""

from support.servers.served_page import served  # noqa: F401
