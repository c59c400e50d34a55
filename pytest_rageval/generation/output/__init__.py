"""Write the files of `rageval generate`: drafts, datasets, corpus, manifest, report."""
