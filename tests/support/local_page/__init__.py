"""A local page for tests of its server: hostile texts, a form, endpoints that fail, hang or stream."""
