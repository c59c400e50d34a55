"""The model ``embedded``: a rule-based player of the built-in agents and chains, without a key."""
