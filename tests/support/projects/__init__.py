"""Projects that tests write to disk and run pytest in."""
