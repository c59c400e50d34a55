"""The sections of the summary: one file a section."""
