"""While tests run: fixtures, systems, answers."""
