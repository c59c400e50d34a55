"""What a system may have seen before: questions in prompts and in training data, answers in questions."""
