"""A run as runs of MLflow."""
