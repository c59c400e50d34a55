"""Write a run to files: subcommands of ``rageval export``, and the formats of ``rageval show``."""
