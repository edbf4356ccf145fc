"""WARC files: writing, reading and replaying them."""
