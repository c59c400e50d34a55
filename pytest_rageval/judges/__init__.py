"""Judges: a verdict of a declared type on an answer, asked of a model or computed by a user's function."""
