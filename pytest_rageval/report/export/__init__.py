"""A run for other tools: Markdown, JUnit, LaTeX, tables, code quality, MLflow, labels."""
