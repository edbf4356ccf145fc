"""One URL passes through a bounded number of modules and record types. Lower the caps when the numbers fall."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_MODULES = 40
MAX_RECORD_TYPES = 9


def test_trace_of_one_url_stays_within_the_caps() -> None:
    command = [sys.executable, str(ROOT / "tools" / "trace_url.py")]
    paths = os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    modules = re.search(r"^(\d+) modules:", done.stdout, re.MULTILINE)
    records = re.search(r"^(\d+) record types that cross", done.stdout, re.MULTILINE)
    assert modules and records, done.stdout
    assert 20 < int(modules[1]) <= MAX_MODULES, done.stdout
    assert 4 < int(records[1]) <= MAX_RECORD_TYPES, done.stdout
