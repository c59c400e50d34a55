"""Numbers to text or bytes: the terminal's tables, results.json, the run folder."""
