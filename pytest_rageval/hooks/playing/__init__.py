"""A project that waits for questions instead of running tests: `project.PlayProject`, for `rageval play`."""
