"""Diagnosis: what kind of right or wrong an answer is."""
