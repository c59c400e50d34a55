"""Metrics of an answer's text."""
