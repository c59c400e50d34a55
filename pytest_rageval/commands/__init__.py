"""The subcommands of `rageval`, one module each."""
