"""Agents: systems in which a model calls tools until it answers. Each workflow has a module."""
