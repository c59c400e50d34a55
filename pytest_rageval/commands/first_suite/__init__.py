"""``rageval init``: write a first suite that runs."""
