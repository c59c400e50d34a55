"""Chunk ids to quotes of the corpus: the work of ``rageval anchor``."""
