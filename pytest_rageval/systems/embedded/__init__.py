"""The model ``embedded``: replies to built-in agents and chains by rules, without a key."""
