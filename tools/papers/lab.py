"""Run jobs on all cores and cache each result as JSON, so that a table can be written again without the work.

A job is a module-level function whose arguments and result can be encoded as JSON. The name of the function and the
arguments are the key of the result. `--fresh` ignores results of earlier runs. Without it a changed policy is not
noticed, which is convenient while a table is written; use `--fresh` before you publish it.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tools.papers.scale import Scale
from tools.papers.webs import ROOT, WORK

from motherlode.crawler.report.plot import Axes, Curve, write_svg

Arguments = dict[str, Any]
Job = Callable[..., Any]


class Lab:
    """Runs jobs and draws figures."""

    def __init__(
        self, scale: Scale, *, docs: Path = ROOT / "docs", work: Path = WORK, processes: int = 2, fresh: bool = False
    ) -> None:
        self.scale = scale
        self._since = time.time() if fresh else 0.0
        """Results that are older are computed again."""
        self._docs = docs
        self._work = work / "answers"
        self._processes = processes
        self.cpu_seconds = 0.0
        """CPU seconds of all results that were used, including cached ones."""

    def run(self, job: Job, asked: Sequence[Arguments], *, alone: bool = False) -> list[Any]:
        """Return the results in order; only missing ones are computed. `alone`: one job at a time."""
        paths = [self._path(job, arguments) for arguments in asked]
        missing = {path: arguments for path, arguments in zip(paths, asked, strict=True) if not self._has(path)}
        if missing:
            self._work.mkdir(parents=True, exist_ok=True)
            self._compute(job, missing, 1 if alone else self._processes)
        kept = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        self.cpu_seconds += sum(one["cpu_seconds"] for one in kept)
        return [one["answer"] for one in kept]

    def _has(self, path: Path) -> bool:
        return path.exists() and path.stat().st_mtime >= self._since

    def _path(self, job: Job, arguments: Arguments) -> Path:
        key = json.dumps([job.__module__, job.__qualname__, arguments], sort_keys=True)
        return self._work / f"{job.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.json"

    def _compute(self, job: Job, missing: dict[Path, Arguments], processes: int) -> None:
        if processes <= 1:
            for path, arguments in missing.items():
                self._keep(path, job, arguments, timed(job, arguments))
            return
        with ProcessPoolExecutor(processes, mp_context=get_context("forkserver")) as pool:
            futures: dict[Future[tuple[Any, float]], Path] = {
                pool.submit(timed, job, arguments): path for path, arguments in missing.items()
            }
            for done, future in enumerate(as_completed(futures), 1):
                path = futures[future]
                self._keep(path, job, missing[path], future.result(), progress=f"{done} of {len(missing)}")

    def _keep(self, path: Path, job: Job, arguments: Arguments, outcome: tuple[Any, float], progress: str = "") -> None:
        answer, seconds = outcome
        kept = {"job": job.__qualname__, "arguments": arguments, "cpu_seconds": round(seconds, 2), "answer": answer}
        written = path.with_suffix(".part")
        written.write_text(json.dumps(kept), encoding="utf-8")
        written.replace(path)
        told = " ".join(str(value) for value in arguments.values() if not isinstance(value, (list, dict)))
        print(f"  {job.__name__} {told[:90]}: {seconds:.1f} s of CPU {progress}", file=sys.stderr, flush=True)

    def figure(self, name: str, title: str, curves: Sequence[Curve], axes: Axes) -> str:
        """Draw docs/papers/NAME.svg, and return the Markdown that shows it."""
        folder = self._docs / "papers"
        folder.mkdir(parents=True, exist_ok=True)
        write_svg(folder / f"{name}.svg", curves, title, axes=axes)
        return f"![{title}](papers/{name}.svg)"


def timed(job: Job, arguments: Arguments) -> tuple[Any, float]:
    """Return the result of a job and its CPU seconds."""
    before = time.process_time()
    answer = job(**arguments)
    return answer, time.process_time() - before
