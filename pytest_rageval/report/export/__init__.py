"""Export a run to other tools: Markdown, JUnit, Parquet, LaTeX, Code Quality, MLflow."""
