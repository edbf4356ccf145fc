"""The tables and figures of the four papers, measured again: `python -m tools.papers` writes docs/papers.md.

Each table is a module. It defines the jobs (functions with plain arguments and results, which `lab` runs and caches),
contains the published column as data, and returns a section: published figures beside ours, the claims that hold, and
a hand-written note from `notes/`. Only the published columns and the notes are typed by hand.
"""
