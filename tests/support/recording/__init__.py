"""Recording of requests, without pytest."""
