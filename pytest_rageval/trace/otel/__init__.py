"""Convert spans of OpenTelemetry and of agent libraries to the steps of a trace."""
