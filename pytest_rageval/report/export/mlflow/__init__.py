"""Log a run to MLflow, one MLflow run per system."""
