"""Spans of OpenTelemetry and of agent libraries, read as the steps of a trace."""
