"""Judges: a model or a user's function gives a verdict of a declared type on an answer."""
