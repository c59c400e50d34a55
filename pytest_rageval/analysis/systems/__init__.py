"""Compare several systems on the same cases: which is best for which task, and at what cost."""
