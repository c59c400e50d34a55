"""``rageval score``: its arguments and its output."""
