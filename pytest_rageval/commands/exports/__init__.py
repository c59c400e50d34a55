"""Write a run to files, for ``rageval export`` and ``rageval view``."""
