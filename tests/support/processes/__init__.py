"""Processes of tests: fast starts of pytest, sandboxes, network namespaces, process tables."""
