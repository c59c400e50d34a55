"""What the command `rageval` does, a module for each of its words."""
