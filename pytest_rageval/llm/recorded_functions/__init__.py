"""Recordings of a user's own functions."""
