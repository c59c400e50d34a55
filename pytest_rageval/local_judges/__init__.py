"""Local judges: small models trained on people's labels, which run without a provider."""
