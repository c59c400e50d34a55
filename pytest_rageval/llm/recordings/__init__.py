"""Recordings of model calls, and the files that hold them."""
