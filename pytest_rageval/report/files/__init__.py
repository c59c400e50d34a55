"""The files of a run: its folder, results.json, the baseline; written and read."""
