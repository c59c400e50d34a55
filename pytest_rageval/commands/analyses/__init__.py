"""The analyses of `rageval analyze`, one module each, and how they load runs."""
