"""An index in a folder that may only be read: somebody else's crawl, or one on a medium that takes nothing more.

The engine locks an index before it reads, and its lock is a file that it must be able to write. So a reader who may not
write gets a folder of his own with links to the files of the index, which costs nothing, and locks that.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

_LOCK = ".lock"


class LinkedFolder:
    """A folder of links to the files of another; it goes when the reader ends."""

    def __init__(self, path: Path) -> None:
        self._source = path.resolve()
        self.path = Path(tempfile.mkdtemp(prefix="motherlode-words-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.renew()

    def renew(self) -> None:
        """Link to the files that have come since."""
        for file in self._source.iterdir():
            link = self.path / file.name
            if file.suffix != _LOCK and not link.is_symlink():
                link.symlink_to(file)


def may_write(path: Path) -> bool:
    """Whether files can be made in a folder, and its locks be taken."""
    return all(os.access(place, os.W_OK) for place in (path, *path.glob(f"*{_LOCK}")))
