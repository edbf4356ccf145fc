"""Export the WARC files of a crawl as one file.

Each record is a gzip member, so files can be concatenated. A kill may have truncated the last record of a file, which
would make everything after it unreadable. So only complete members are copied.
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
    """Write the records of all files, compressed (`packed`) or plain. Return their number."""
    count = 0
    for path in files:
        with path.open("rb") as file:
            for member in gzip_members(file):
                raw = os.pread(file.fileno(), member.end - member.start, member.start) if packed else member.data
                output.write(raw)
                count += 1
                progress(count)
    return count
