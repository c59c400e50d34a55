"""Records for RGB's four abilities, made by rules from any dataset and corpus."""
