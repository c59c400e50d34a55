"""Text for people: lines, tables, colours, numbers."""
