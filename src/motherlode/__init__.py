"""Motherlode: a focused crawler for the Web of Data."""

__version__ = "0.1.0"
