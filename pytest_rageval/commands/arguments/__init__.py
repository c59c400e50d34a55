"""The arguments of commands whose own modules take time to import: one module each, which imports them on use."""
