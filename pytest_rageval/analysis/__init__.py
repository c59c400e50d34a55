"""Turn outcomes into numbers: intervals, gates, matrices. Pure functions of data."""
