"""Fixtures, systems and answers while tests run."""
