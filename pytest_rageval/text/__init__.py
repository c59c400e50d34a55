"""English and Chinese text processing for metrics, retrievers and readers."""
