"""Runs cases: asks the system, scores the answer, and turns whatever happens into an outcome."""
