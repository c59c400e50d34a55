"""One attempt to reach a model, and why it failed."""
