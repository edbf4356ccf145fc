"""The `storage` package."""
