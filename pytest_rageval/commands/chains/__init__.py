"""``rageval chain``: check a chain, and run it for one question."""
