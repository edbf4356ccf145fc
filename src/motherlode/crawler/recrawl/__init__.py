"""The `recrawl` package."""
