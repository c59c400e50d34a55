"""Metrics decided by a judge."""
