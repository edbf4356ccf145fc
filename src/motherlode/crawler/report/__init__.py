"""The HTML report of a crawl: contents, template, charts and escaping."""
