"""Record and replay the results of users' own functions."""
