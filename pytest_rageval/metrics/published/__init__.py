"""Metrics with the values of published code, for comparison with published numbers."""
