"""``rageval score``: parse its arguments and print its summary."""
