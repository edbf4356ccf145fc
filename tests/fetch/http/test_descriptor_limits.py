"""Limits of file descriptors. Each test runs in a subprocess, so that our own limits stay unchanged."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

_LIMITED = """
import resource
from motherlode.fetch.http.descriptor_limits import max_idle_connections, raise_descriptor_limit
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
raise_descriptor_limit(connections=256, idle=1024)
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], max_idle_connections(1024))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "found", "idle"),
    [(256, 8192, 3328, 1024), (256, 600, 600, 200), (200, 200, 200, 66), (4096, 4096, 4096, 1024)],
)
def test_descriptor_limit_leaves_room_for_active_connections(soft: int, hard: int, found: int, idle: int) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most != resource.RLIM_INFINITY and most < hard:
        pytest.skip("this system gives no process so many descriptors")
    program = _LIMITED.format(soft=soft, hard=hard)
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert said.stdout.split() == [str(found), str(idle)]
