"""A store that is not what was written: how the library tells it, and what a person can do about it."""

from __future__ import annotations

from pathlib import Path


class DamagedError(OSError):
    """Something on disk is not what was written there; the message says what to do."""


def is_damage(error: BaseException) -> bool:
    """Whether the library has met files that contradict each other, or themselves; it says so in words only.

    >>> is_damage(RuntimeError("Corruption: block checksum mismatch")), is_damage(RuntimeError("Already borrowed"))
    (True, False)
    """
    return isinstance(error, (RuntimeError, OSError)) and "Corruption: " in str(error)


def store_advice(store: Path, why: str) -> str:
    """What to do about a damaged store in the folder of a crawl."""
    folder = store.parent
    answers = (
        f"All answers are in {folder / 'warc'}: `motherlode crawl --web FILE.warc.gz` reads them again without the "
        "network."
        if (folder / "warc").exists()
        else "Without --warc the pages themselves were not kept: to have their quads again, crawl them again."
    )
    return (
        f"the quad store in {store} is damaged: {why.rstrip('. ')}. "
        f"The frontier in {folder / 'frontier'} is untouched. "
        f"Put back a copy of the store if you have one; or move it away and `motherlode resume {folder}` goes on "
        f"with a new one, for the pages that are still to come. {answers}"
    )
