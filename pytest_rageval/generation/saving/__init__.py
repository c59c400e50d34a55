"""Cases that a person saves: a record at the end of a JSON Lines file, and a testbed that reads it."""
