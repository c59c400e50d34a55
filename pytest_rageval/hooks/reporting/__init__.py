"""The reporting process: reports in, gates, files and the summary out."""
