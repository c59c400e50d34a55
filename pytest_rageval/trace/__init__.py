"""Collect, encode and read traces: the steps that led to an answer.

Users record steps with the public module `pytest_rageval.tracing`, which calls this package.
"""
