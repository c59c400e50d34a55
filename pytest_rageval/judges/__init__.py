"""Judges: a model or a user's function judges an answer with a label, a number or yes/no."""
