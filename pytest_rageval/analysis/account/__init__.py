"""The account of a run: what broke, by how much beyond chance, and why."""
