"""Report pages in a real browser."""
