"""Diagnosis: where a right answer comes from, and why a wrong answer is wrong."""
