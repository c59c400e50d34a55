"""Templates: questions with placeholders, filled from the rows of tables."""
