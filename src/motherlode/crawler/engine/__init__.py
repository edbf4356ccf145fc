"""The `engine` package."""
