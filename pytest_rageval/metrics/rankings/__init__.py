"""Metrics of rankings, and their judgements of relevance."""
