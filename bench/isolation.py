"""No way out: a benchmark that runs crawlers over real pages does so in a network that has nothing but loopback.

A page's own links, redirects and `<meta refresh>` point to the real web, and a peer may follow any of them.
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
    """Start this program anew in a network namespace of its own, unless it is in one already."""
    if os.environ.get(_MARK):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            fcntl.ioctl(one, _SET_FLAGS, struct.pack("16sh", b"lo", _UP))
        return
    if shutil.which("unshare") is None:
        sys.exit("this benchmark needs unshare (util-linux): it runs crawlers in a network without a way out")
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    os.environ[_MARK] = "1"
    os.execvp("unshare", ["unshare", "--net", *user, sys.executable, *sys.argv])
