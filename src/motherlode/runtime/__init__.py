"""The `runtime` package."""
