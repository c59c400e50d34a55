"""Metrics as published code computes them, for comparison with published numbers."""
