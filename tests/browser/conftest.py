"""Fixtures of the tests of pages; they stand in `pages`, whose names tests import."""

import pytest

pytest.register_assert_rewrite("pages", "shown_cells")

from pages import chromium, golden, opened  # noqa: E402, F401
