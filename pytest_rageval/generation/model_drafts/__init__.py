"""Drafts of a model: prompts, strict reading of replies, inspection and correction."""
