"""Topics: make a tree of them without a model, write it for people to edit, and give each chunk its topic."""
