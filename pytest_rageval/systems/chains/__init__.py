"""Chains: systems that run actions in a fixed order, from a TOML file.

`chain_file` reads a chain, `system` runs it for a case.
"""
