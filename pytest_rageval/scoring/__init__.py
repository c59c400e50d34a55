"""Score recorded answers without pytest: files to chunks, chunks to scores, scores to gates."""
