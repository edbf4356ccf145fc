"""A store that is not what was written: how the library tells it, and what a person can do about it."""

from __future__ import annotations

import errno
import resource
from collections.abc import Sequence
from pathlib import Path


class DamagedError(OSError):
    """Something on disk is not what was written there; the message says what to do."""


def is_damage(error: BaseException) -> bool:
    """Whether the library has met files that contradict each other, or themselves; it says so in words only.

    >>> is_damage(RuntimeError("Corruption: block checksum mismatch")), is_damage(RuntimeError("Already borrowed"))
    (True, False)
    """
    return isinstance(error, (RuntimeError, OSError)) and "Corruption: " in str(error)


def is_full_disk(error: BaseException) -> bool:
    """Whether an error, or what caused it, says that there is no space left; libraries say so in words only.

    >>> is_full_disk(OSError(28, "No space left on device")), is_full_disk(OSError("no such file"))
    (True, False)
    """
    return getattr(error, "errno", None) == errno.ENOSPC or _says(error, _FULL)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error, or what caused it, says that there is no memory, or that its limit was met.

    >>> is_out_of_memory(OSError("out/frontier: Cannot allocate memory")), is_out_of_memory(OSError("no such file"))
    (True, False)
    """
    return isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM or _says(error, _NO_MEMORY)


def is_refused(error: BaseException) -> bool:
    """Whether the system refused to open or read something, which says nothing about what is on disk.

    >>> is_refused(OSError("IO error: While open a file: a/CURRENT: Permission denied"))
    True
    """
    return is_full_disk(error) or is_out_of_memory(error) or _says(error, _REFUSED)


_FULL = ("no space left", "disk full")
_NO_MEMORY = ("cannot allocate memory", "memoryerror", "bad_alloc", "failed to map segment", "memory allocation of")
_WRITER_ENDED = "the process that writes the quad store has ended"
"""A limit of addresses ends it when it starts its threads."""
_REFUSED = (
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "too many open files",
    "resource temporarily unavailable",  # another process holds the lock, or no thread can be started
    _WRITER_ENDED,
)


def _says(error: BaseException, words: Sequence[str]) -> bool:
    said = f"{error} {error.__cause__ or ''}".lower()
    return any(word in said for word in words)


def remedy(error: BaseException) -> str:
    """What a person does before a command can go on, as the beginning of a sentence; "" if nothing is known."""
    if is_full_disk(error):
        return "make space on the disk, then "
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and (is_out_of_memory(error) or _says(error, (_WRITER_ENDED,))):
        return f"{_lift(limit)}, then "
    return "free some memory, then " if is_out_of_memory(error) else ""


def _lift(limit: int) -> str:
    return (
        f"lift the limit of {limit / 1e9:,.1f} GB of address space (`ulimit -v unlimited`; the frontier's file is "
        "mapped to a terabyte of addresses, not of memory)"
    )


def store_advice(store: Path, why: str) -> str:
    """What to do about a damaged store in the folder of a crawl."""
    folder = store.parent
    return (
        f"the quad store in {store} is damaged: {why.rstrip('. ')}. "
        f"The frontier in {folder / 'frontier'} is untouched. "
        f"`motherlode resume {folder}` cannot go on with it as it is. "
        f"Put back a copy of the store if you have one; or move it away and {_new_store(folder)}"
    )


def _new_store(folder: Path) -> str:
    """How a crawl comes to a store again that has lost its own."""
    if (folder / "quads").is_dir():
        return f"`motherlode index {folder}` makes a new one of the files in {folder / 'quads'}."
    again = f"`motherlode resume {folder}` makes a new one and fetches its pages again."
    if not (folder / "warc").exists():
        return again
    return (
        f"{again} All answers are in {folder / 'warc'}, too: `motherlode crawl --web FILE.warc.gz` reads them again "
        "without the network."
    )
