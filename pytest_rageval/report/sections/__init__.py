"""The sections of the summary: one module a section."""
