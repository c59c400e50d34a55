"""Metrics of traces: the calls that led to an answer."""
