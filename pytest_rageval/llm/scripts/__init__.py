"""Models whose replies come from a file."""
