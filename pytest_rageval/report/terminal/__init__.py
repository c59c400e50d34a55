"""Print to the terminal: summary, status line, comparisons and histories."""
