"""Recordings of model calls, and their files (cassettes)."""
