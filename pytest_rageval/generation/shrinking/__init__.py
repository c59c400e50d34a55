"""Find the smallest context that breaks a case."""
