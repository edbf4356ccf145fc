"""The `trace` package."""
