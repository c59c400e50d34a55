"""Generate cases from corpora and tables, and variants of existing cases."""
