"""Metrics of the calls that led to an answer."""
