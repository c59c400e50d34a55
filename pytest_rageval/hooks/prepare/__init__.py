"""Between collection and the first test: selection, checks, the corpus, the plan, resuming."""
