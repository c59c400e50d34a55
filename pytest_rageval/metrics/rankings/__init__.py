"""Metrics of what was retrieved."""
