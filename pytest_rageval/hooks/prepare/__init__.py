"""Prepare the run after collection: selection, checks, the corpus, the plan, resuming."""
