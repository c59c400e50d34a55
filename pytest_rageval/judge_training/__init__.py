"""Train local judges on people's labels, and measure them; only commands import this."""
