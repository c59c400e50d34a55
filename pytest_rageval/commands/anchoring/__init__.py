"""``rageval anchor``: replace chunk ids by quotes of the corpus."""
