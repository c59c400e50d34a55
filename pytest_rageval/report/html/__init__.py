"""Write a run as one HTML page, from its results.json alone."""
