"""Judges measured against people, and against each other."""
