"""What the terminal shows: the summary, the status line, comparisons and histories."""
