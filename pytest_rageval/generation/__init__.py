"""Generate cases from corpora and tables, and vary cases that exist. Tests with relations import only these."""
