"""The `http` package."""
