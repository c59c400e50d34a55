"""Sample values for unit tests."""
