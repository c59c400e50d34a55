"""From markers and suites to testbeds and cases."""
