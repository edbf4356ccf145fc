"""The raw web: addresses, media types, documents and their HTML tree. Pure functions; nothing here does I/O."""
