"""Frozen values that every other folder uses; standard library only."""
