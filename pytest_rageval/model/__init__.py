"""Immutable values that all other folders use; they only need the standard library."""
