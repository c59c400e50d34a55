"""One page of HTML for a run, drawn from its results.json alone; jinja2 is imported when one is asked for."""
