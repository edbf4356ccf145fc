"""Support for processes: lazy imports, and frames between processes. Imports nothing else of ours."""
