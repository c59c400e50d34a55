"""Outcomes to numbers: intervals, gates, matrices. Pure, and in need of data only."""
