"""The `warc` package."""
