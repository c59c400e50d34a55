"""Format text for people: lines, tables, colours, numbers."""
