"""Commands that make cases, and make them smaller."""
