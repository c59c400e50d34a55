"""The data of a run: plan, outcomes, gate results and everything computed from them."""
