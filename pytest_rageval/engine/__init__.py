"""Run cases: ask the system, score the answer, and return an outcome or an error."""
