"""Generate a world of fictional scholars and publications, free of licences."""
