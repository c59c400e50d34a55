"""Recordings of users' own functions."""
