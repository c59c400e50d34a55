"""Local judges: small models, trained on people's labels, that judge an answer without asking anyone."""
