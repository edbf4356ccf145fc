"""Is the frontier's file whole? Asked in a process of its own, because a damaged one may end whoever reads it.

    python checking.py FOLDER

LMDB maps its file and trusts what it finds there: a page that is cut off is a bus error, a page of rubbish may be
anything. So a small file, or one that is shorter than its own head says, is walked through once before it is opened:
here, where a crash costs nothing. Large ones are not, since that would take as long as reading them. Run as a script,
this module imports nothing of ours and starts in a twentieth of a second.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_FILE = "data.mdb"
_SMALL = 64 << 20
_SECONDS = 600.0


def damage(folder: Path) -> str:
    """What is wrong with the file of a frontier, for a person; "" where nothing was found, or there is no file."""
    path = folder / _FILE
    if not path.exists() or path.stat().st_size > _SMALL:
        return ""
    command = [sys.executable, "-I", __file__, str(folder)]
    try:
        found = subprocess.run(command, check=False, capture_output=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return "it cannot be read to its end"
    if found.returncode < 0:
        return f"reading it ends a process (signal {-found.returncode})"
    if found.returncode:
        said = found.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1] if said else "it cannot be read"
    return ""


def walk(folder: str) -> None:
    """Read every key and every value once; an error of LMDB's, or a crash, where something is wrong."""
    import lmdb

    environment = lmdb.open(folder, readonly=True, lock=False, max_dbs=32, create=False)
    with environment.begin(buffers=True) as transaction:
        names = [bytes(name) for name, _ in transaction.cursor()]
        for name in names:
            table = environment.open_db(name, txn=transaction, create=False)
            entries, seen = transaction.stat(table)["entries"], 0
            before = b""
            for key, value in transaction.cursor(db=table):
                seen += 1
                now = bytes(key)
                if now <= before and seen > 1:
                    raise ValueError(f"the keys of {name.decode(errors='replace')} are out of order")
                before = now
                if len(value):
                    value[0], value[-1]
            if seen != entries:
                raise ValueError(f"{name.decode(errors='replace')} should have {entries} entries and has {seen}")


if __name__ == "__main__":
    walk(sys.argv[1])
