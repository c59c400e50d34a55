"""Rules shared by several metrics: matching, quantities, detection."""
