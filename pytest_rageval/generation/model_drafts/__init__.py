"""Ask models for drafts, parse their replies, and let models inspect and correct the drafts."""
