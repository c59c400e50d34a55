"""Traces: the steps that led to an answer, from any system."""
