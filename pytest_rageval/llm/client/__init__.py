"""Clients that limit, retry, replay and charge the calls to models."""
