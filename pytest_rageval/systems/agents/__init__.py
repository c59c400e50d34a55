"""Agents: systems in which a model calls tools until it answers. One module is one workflow."""
