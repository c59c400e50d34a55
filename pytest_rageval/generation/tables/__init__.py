"""Read tables from files and databases; their rows fill templates and become passages."""
