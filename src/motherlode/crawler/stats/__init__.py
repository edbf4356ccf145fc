"""The `stats` package."""
