"""Everything that touches pytest."""
