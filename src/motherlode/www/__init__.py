"""Formats of the web that several packages read: URLs, IRIs, media types, HTML, XML and gzip files."""
