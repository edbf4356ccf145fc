"""The `report` package."""
