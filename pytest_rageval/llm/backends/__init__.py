"""Backends that send one request to a model, and the kinds of their failures."""
