"""The `explain` package."""
