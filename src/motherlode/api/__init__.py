"""The public Python API. `import motherlode as ml` offers its names; nothing else is stable.

`page` has `extract` and its result. `items` and `jsonld` present the statements of a page as dictionaries.
"""
