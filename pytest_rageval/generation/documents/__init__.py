"""Documents of a plan: files cut into chunks, the passages that cases are made of."""
