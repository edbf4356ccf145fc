"""bench/quiet.py: CPU of other processes while a command runs."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEASURE = """
import dataclasses, json, sys
from bench.quiet import run
print(json.dumps(dataclasses.asdict(run(sys.argv[1:]))))
"""


def measure(*command: str) -> dict[str, float]:
    """Run bench.quiet in a process of its own, because it waits for all children of its process."""
    found = subprocess.run([sys.executable, "-c", MEASURE, *command], cwd=ROOT, capture_output=True, check=True)
    values: dict[str, float] = json.loads(found.stdout)
    return values


def cpu_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / 100


def test_run_beside_busy_process_counts_its_time() -> None:
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        before = cpu_seconds(busy.pid)
        found = measure("sleep", "1")
        used = cpu_seconds(busy.pid) - before
    finally:
        busy.kill()
        busy.wait()
    assert used > 0
    assert found["cores_of_others"] > 0


def test_run_waits_for_orphans_of_command_and_returns_its_exit_code(tmp_path: Path) -> None:
    orphan = f"sleep 0.3; touch {tmp_path}/ended"
    found = measure("sh", "-c", f"(setsid sh -c '{orphan}' >/dev/null 2>&1 &) ; exit 3")
    assert found["exit_code"] == 3
    assert (tmp_path / "ended").exists()
