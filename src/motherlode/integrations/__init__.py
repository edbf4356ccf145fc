"""Motherlode inside other crawlers: `selector` for any crawler, `scrapy` for Scrapy."""
