"""Models as the session asks them: within limits, retried, replayed, charged."""
