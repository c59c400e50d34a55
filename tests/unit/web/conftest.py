"""Fixtures of the tests of local pages; `support.servers.page_process` defines them."""

from support.servers.page_process import served  # noqa: F401
