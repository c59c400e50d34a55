"""The help desk of Tarnhaven Transit: a small retrieval-augmented assistant in English and Chinese."""

from assistant.desk import help_desk

__all__ = ["help_desk"]
