"""Write reports: terminal, results.json, page, Markdown, JUnit and other exports."""
