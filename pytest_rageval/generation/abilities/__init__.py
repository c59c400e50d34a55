"""Passage pools for RGB's four abilities from any dataset and corpus, decided by rule."""
