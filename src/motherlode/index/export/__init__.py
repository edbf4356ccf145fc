"""The `export` package."""
