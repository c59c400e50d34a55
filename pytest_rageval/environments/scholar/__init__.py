"""The environment ``scholar``: calls over persons and publications, as in R-Eval's academic domain."""
