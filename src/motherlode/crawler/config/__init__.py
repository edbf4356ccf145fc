"""The `config` package."""
