"""The folder of a crawl: what lies where, and who may write to it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import BinaryIO

from motherlode.crawl.job import Job, JobError, job_to_toml, read_job_file


class CrawlFolder:
    """`job.toml` what was asked for, `frontier/` what is known, `store/` the quads, `report.html` what came of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.job_file = path / "job.toml"
        self.frontier = path / "frontier"
        self.store = path / "store"
        self.report = path / "report.html"
        self.warc = path / "warc"
        self._lock: BinaryIO | None = None

    @property
    def holds_a_crawl(self) -> bool:
        return self.job_file.exists()

    def create(self, job: Job) -> None:
        """Make the folder for a new crawl; an error where it holds anything already."""
        if self.holds_a_crawl:
            raise JobError(
                f"{self.path} holds a crawl already: `motherlode resume {self.path}` goes on with it, "
                "`motherlode stats` tells about it; a new crawl needs another folder"
            )
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise JobError(f"{self.path} is not an empty folder: choose another with -o")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.lock()
            self.job_file.write_text(job_to_toml(job), encoding="utf-8")
        except OSError as error:
            raise JobError(f"the folder {self.path} cannot be made: {error.strerror}") from error

    def require(self) -> None:
        """An error where there is no crawl here."""
        if not self.holds_a_crawl:
            raise JobError(f"{self.path} holds no crawl: make one with `motherlode crawl SEED... -o {self.path}`")

    def job(self) -> Job:
        self.require()
        return Job(**read_job_file(self.job_file))

    def lock(self) -> None:
        """Keep other processes from crawling into this folder; given back when the process ends, however it ends."""
        if self._lock is not None:
            return
        self._lock = (self.path / "lock").open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            self._lock = None
            raise JobError(f"another process is crawling into {self.path}: stop it first, or wait") from None

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def disk_use(self) -> int:
        """Bytes of all files below the folder, as the disk counts them (the frontier's file is sparse)."""
        sizes = ((Path(root) / name).stat().st_blocks * 512 for root, _, names in os.walk(self.path) for name in names)
        return sum(sizes)
