"""Shared code of tests: projects to run, servers to call, pages to open, sample values."""
