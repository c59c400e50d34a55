"""Messages to completions: model clients, recordings, budgets."""
