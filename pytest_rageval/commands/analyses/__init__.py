"""The analyses of `rageval analyze`, one module each; `load_and_write` loads runs for them."""
