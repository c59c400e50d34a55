"""A run: its plan, its outcomes, and what follows from them."""
