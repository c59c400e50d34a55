"""Compare two runs over the same cases: what changed, and whether it is significant."""
