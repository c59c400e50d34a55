"""Model clients, recordings of their calls, and budgets."""
