"""Review by people: a sample of the drafts, their decisions, and what follows from these for the sets."""
