"""Score recorded answers without pytest: split files, score the chunks, evaluate gates."""
