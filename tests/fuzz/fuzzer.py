"""Runs fuzz targets under atheris by the clock, minimises what fails, and writes it to a folder.

    python -m tests.fuzz.fuzzer --minutes 10 [--target turtle ...] [--output fuzz-findings]
    python -m tests.fuzz.fuzzer --replay turtle FILE

Each target runs in a process of its own for its share of the time, starting from the files in `corpus/TARGET`. Failures
with the same exception at the same line are one finding. The exit code is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")
MAX_INPUT_BYTES = 4096
_MINIMISE_SECONDS = 20.0
_INPUT_SECONDS = 30
"""Seconds after which an input counts as one that hangs its parser."""
Target = Callable[[bytes], None]


def failure_of(target: Target, data: bytes) -> str:
    """Return the kind and the line of the exception that a target raises for an input, or "" if it raises none."""
    try:
        target(data)
    except Exception as error:  # noqa: BLE001 - any exception is a finding
        frames = traceback.extract_tb(error.__traceback__)
        at = next((frame for frame in reversed(frames) if "motherlode" in Path(frame.filename).parts), frames[-1])
        return f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}"
    return ""


def minimise(target: Target, data: bytes, *, seconds: float = _MINIMISE_SECONDS) -> bytes:
    """Remove pieces of an input, from halves to single bytes, as long as the target fails in the same way."""
    wanted, ends = failure_of(target, data), time.monotonic() + seconds
    size = max(1, len(data) // 2)
    while size and time.monotonic() < ends:
        start = 0
        while start < len(data) and time.monotonic() < ends:
            shorter = data[:start] + data[start + size :]
            if failure_of(target, shorter) == wanted:
                data = shorter
            else:
                start += size
        size //= 2
    return data


class Findings:
    """The folder of findings of one target: each kind of failure once, minimised, with the command to reproduce it."""

    def __init__(self, name: str, target: Target, folder: Path) -> None:
        self._name = name
        self._target = target
        self._folder = folder / name
        self._kinds: set[str] = set()

    def run(self, data: bytes) -> None:
        """Run the target, and store its failure if it is of a new kind."""
        kind = failure_of(self._target, data)
        if not kind or kind in self._kinds:
            return
        self._kinds.add(kind)
        small = minimise(self._target, data)
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / hashlib.sha256(small).hexdigest()[:16]
        path.write_bytes(small)
        command = f"python -m tests.fuzz.fuzzer --replay {self._name} {path}"
        path.with_suffix(".txt").write_text(f"{kind}\n{command}\n", encoding="utf-8")
        print(f"{self._name}: {kind}\n  {command}", flush=True)


def _instrumented_targets() -> dict[str, Target]:
    """Import the targets such that atheris sees which lines of our parsers run. It takes half a minute."""
    import atheris

    with redirect_stderr(StringIO()), atheris.instrument_imports(include=["motherlode"]):
        from tests.fuzz.targets import TARGETS
    return TARGETS


def _fuzz(name: str, target: Target, seconds: float, output: Path) -> None:
    """Fuzz one target under atheris, in this process. It does not return."""
    import atheris

    findings = Findings(name, target, output)
    with tempfile.TemporaryDirectory() as grown:
        shutil.copytree(CORPUS / name, grown, dirs_exist_ok=True)
        (output / name).mkdir(parents=True, exist_ok=True)
        limits = [f"-max_total_time={int(seconds)}", f"-timeout={_INPUT_SECONDS}", f"-max_len={MAX_INPUT_BYTES}"]
        limits += ["-rss_limit_mb=4096", f"-report_slow_units={_INPUT_SECONDS}", f"-artifact_prefix={output / name}/"]
        atheris.Setup([sys.argv[0], *limits, "-print_final_stats=1", "-verbosity=0", grown], findings.run)
        atheris.Fuzz()


def run_targets(names: list[str], *, seconds: float, output: Path) -> int:
    """Fuzz targets one after the other, each for `seconds`. Return the number of findings."""
    targets = _instrumented_targets()
    context = multiprocessing.get_context("fork")
    for name in names:
        print(f"{name}: {seconds:.0f} s", flush=True)
        process = context.Process(target=_fuzz, args=(name, targets[name], seconds, output))
        process.start()
        process.join()
        if not any((output / name).iterdir()):
            (output / name).rmdir()
    return sum(1 for path in output.glob("*/*") if path.suffix != ".txt")


def replay(name: str, path: Path) -> None:
    """Run a target once, with a file. Its exception is raised."""
    from tests.fuzz.targets import TARGETS

    TARGETS[name](path.read_bytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=10.0, help="time for all targets together")
    parser.add_argument("--target", action="append", help="fuzz only this target; repeatable")
    parser.add_argument("--output", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--replay", nargs=2, metavar=("TARGET", "FILE"), help="run a target once with a file")
    options = parser.parse_args()
    if options.replay:
        replay(options.replay[0], Path(options.replay[1]))
        return
    names = options.target or sorted(path.name for path in CORPUS.iterdir())
    options.output.mkdir(parents=True, exist_ok=True)
    findings = run_targets(names, seconds=60 * options.minutes / len(names), output=options.output.resolve())
    print(f"{findings} findings" + (f" in {options.output}" if findings else ""))
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
