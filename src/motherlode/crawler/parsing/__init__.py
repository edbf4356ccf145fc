"""The `parsing` package."""
