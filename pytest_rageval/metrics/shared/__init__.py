"""Rules that several metrics share: matching, quantities, detection of refusals."""
