"""Gates against outcomes: measured, then decided together."""
