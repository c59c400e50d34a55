"""Topics: build a topic tree without a model, write it as a file, assign chunks."""
