"""Export a run in the formats of other tools: Markdown, JUnit, Parquet, LaTeX, Code Quality, MLflow."""
