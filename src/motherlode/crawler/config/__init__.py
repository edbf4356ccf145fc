"""Configuration of a crawl: the typed `Job`, job files, host patterns and units."""
