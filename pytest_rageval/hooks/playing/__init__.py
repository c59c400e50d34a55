"""Load a project that answers questions instead of running tests, for `rageval play`; see `PlayProject`."""
