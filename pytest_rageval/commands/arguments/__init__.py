"""The arguments of commands that import slowly: one module each.

A module here imports the module of its command only when the command runs, so ``--help`` stays fast.
"""
