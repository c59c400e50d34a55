"""Collect reports in the main process, evaluate gates, write files and print the summary."""
