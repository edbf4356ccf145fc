"""Exports of the store: N-Quads, TriG, Parquet, a VoID description, and WARC files."""
