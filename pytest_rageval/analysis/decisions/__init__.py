"""Decide gates: measure them on outcomes, then decide all of them together."""
