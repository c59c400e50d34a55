"""Find questions that a model may have seen in prompts or training data."""
