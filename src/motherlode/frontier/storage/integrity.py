"""Check the frontier's LMDB file for damage, in a child process because a damaged file may crash its reader.

LMDB maps its file into memory and does not verify it: a truncated file causes a bus error. So a file of at most
`_MAX_CHECKED_BYTES` is read once before the crawler opens it. As a script (`python integrity.py FOLDER`), this module
imports no other module of Motherlode and starts in about 50 ms.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_FILE = "data.mdb"
_MAX_CHECKED_BYTES = 64 << 20
_CHECK_TIMEOUT_SECONDS = 600.0


def damage(folder: Path, *, max_bytes: float = _MAX_CHECKED_BYTES) -> str:
    """Return a description of the damage to a frontier's file; "" if no damage was found or there is no file.

    A file of more than `max_bytes` is not read.
    """
    path = folder / _FILE
    if not path.exists() or path.stat().st_size > max_bytes:
        return ""
    command = [sys.executable, "-I", __file__, str(folder)]
    try:
        found = subprocess.run(command, check=False, capture_output=True, timeout=_CHECK_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return f"reading it took more than {_CHECK_TIMEOUT_SECONDS:.0f} seconds"
    if found.returncode < 0:
        return f"reading it crashed the process (signal {-found.returncode})"
    if found.returncode:
        lines = found.stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it cannot be read"
    return ""


def read_everything(folder: str) -> None:
    """Read every key and every value once. Damage causes an LMDB error, a ValueError or a crash."""
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
    read_everything(sys.argv[1])
