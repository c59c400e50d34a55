"""What several metrics are computed from."""
