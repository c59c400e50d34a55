"""Review by people: a sample of drafts, the decisions, and their effect on the datasets."""
