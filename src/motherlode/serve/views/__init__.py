"""The `views` package."""
