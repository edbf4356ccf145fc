"""Frontier storage: known URLs with their states, one priority queue per arm, host records, and the log of visits.

`MemoryStorage` is not persistent; simulations use it. `LmdbStorage` uses LMDB: all changes between two commits are one
transaction, so a process that is killed leaves the complete state of the last commit.
"""

from motherlode.frontier.storage.lmdb import LmdbStorage
from motherlode.frontier.storage.memory import MemoryStorage

FrontierStorage = LmdbStorage | MemoryStorage

__all__ = ["FrontierStorage", "LmdbStorage", "MemoryStorage"]
