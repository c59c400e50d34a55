"""Metrics that a judge decides."""
