"""Chains: actions in a fixed order, from a TOML file. `chain_file` reads one, `system` runs it for a case."""
