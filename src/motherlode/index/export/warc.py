"""The kept answers of a crawl as one WARC file.

Each record is a gzip member of its own, so files can be joined end to end. A kill may have cut the last record of a
file off; joined as it is, it would make all that follows unreadable. So members are passed on one by one, when whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from motherlode.www.gzip_members import gzip_members


def export_warc(
    files: Sequence[Path], output: BinaryIO, *, packed: bool, progress: Callable[[int], None] = lambda count: None
) -> int:
    """Write the records of all files, packed as they are or plain; how many there were."""
    count = 0
    for path in files:
        with path.open("rb") as file:
            for member in gzip_members(file):
                raw = os.pread(file.fileno(), member.end - member.start, member.start) if packed else member.data
                output.write(raw)
                count += 1
                progress(count)
    return count
