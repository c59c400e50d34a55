"""Provide fixtures, build systems and ask them while tests run."""
