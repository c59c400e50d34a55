"""Write and read the files of a run: run folder, results.json, journals, baseline."""
