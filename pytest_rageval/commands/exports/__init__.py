"""Subcommands of ``rageval export``."""
