"""The tables and figures of the four papers, measured anew: `python -m tools.papers` writes docs/papers.md.

A table is a module. It says what is to be run (jobs: functions with plain arguments and plain answers, which `lab` runs
on all cores and keeps), holds the published column as data, and writes a section: the published figures beside ours,
which of the paper's claims hold, and a note by hand from `notes/`. Nothing but the published columns and the notes is
typed in.
"""
