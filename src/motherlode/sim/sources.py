"""From what the user names to a web that can be opened: synthetic, a trace, or a WARC file that becomes one."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

from motherlode.sim.matrix import SYNTHETIC, synthetic_pages
from motherlode.sim.record import Progress, record
from motherlode.sim.trace import TraceError, read_parts


def prepared(name: str, cache: Path, progress: Progress) -> str:
    """The web as a `WebSpec` wants it; a WARC file is recorded first, and its trace kept for the next time."""
    if name.startswith(SYNTHETIC):
        synthetic_pages(name)
        return name
    path = Path(name)
    if path.is_dir():
        return name
    if not path.exists():
        raise TraceError(f"{name} does not exist: give a trace, a WARC file or synthetic:PAGES")
    trace = cache / f"{path.name}-{zlib.crc32(str(path.resolve()).encode()):08x}"
    try:
        read_parts(trace)
    except TraceError:  # of an older version: nobody asked for it to be kept
        shutil.rmtree(trace)
    try:
        record([path], trace, progress=progress)
    except OSError as error:
        raise TraceError(
            f"{name} cannot be recorded into {trace}: {error.strerror or error}; "
            f"`motherlode record {name} -o TRACE` makes a trace elsewhere"
        ) from error
    return str(trace)
