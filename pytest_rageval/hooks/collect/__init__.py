"""Collection: turn markers and suites into testbeds and cases."""
