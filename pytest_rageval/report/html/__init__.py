"""Draw a run as one HTML page, from its results.json alone; jinja2 is imported only then."""
