"""Run a benchmark in a network namespace that has only loopback.

Links, redirects and `<meta refresh>` of real pages point to the real web, and a peer may follow any of them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import sys

_MARK = "MOTHERLODE_BENCH_ALONE"
_SET_FLAGS = 0x8914
_UP = 0x1 | 0x40


def run_alone() -> None:
    """Restart this program in a network namespace of its own, unless it already runs in one."""
    if os.environ.get(_MARK):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            fcntl.ioctl(one, _SET_FLAGS, struct.pack("16sh", b"lo", _UP))
        return
    if shutil.which("unshare") is None:
        sys.exit("this benchmark needs unshare (util-linux): it runs crawlers in a network with loopback only")
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    os.environ[_MARK] = "1"
    os.execvp("unshare", ["unshare", "--net", *user, sys.executable, *sys.argv])
