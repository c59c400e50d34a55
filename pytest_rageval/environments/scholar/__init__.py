"""The environment ``scholar``: tools that look up persons and publications, as in R-Eval."""
