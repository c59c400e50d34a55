"""Tables: rows of files and databases as values for templates, and as passages."""
