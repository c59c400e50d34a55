"""The files that `rageval generate` writes: drafts, datasets, the corpus, the manifest and the report."""
