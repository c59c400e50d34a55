"""What tests share: projects to run, servers to call, pages to open, sample values."""
