"""Generate cases from corpora and tables, and vary cases that exist. A run of tests imports nothing of it."""
