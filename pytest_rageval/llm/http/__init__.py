"""Record, meter and replay the HTTP requests of a user's own system."""
