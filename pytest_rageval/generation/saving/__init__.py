"""Save a case: append its record to a JSON Lines file, and write a testbed for it."""
