"""The folder of a crawl: what lies where, and who may write to it."""

from __future__ import annotations

import fcntl
import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from motherlode.crawler.config.errors import JobError

if TYPE_CHECKING:
    from motherlode.crawler.config.job import Job


_MODE = 0o700
"""Of a new folder: what a crawl found is for its user alone. A folder that the user has made is left as it is."""


class CrawlFolder:
    """`job.toml` what was asked for, `frontier/` what is known, `store/` the quads, `report.html` what came of it.

    `secrets.toml` has the keys of the job that hold passwords, if there are any. `quads/` is there where the store is
    to be made later.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.job_file = path / "job.toml"
        self.secrets_file = path / "secrets.toml"
        self.frontier = path / "frontier"
        self.store = path / "store"
        self.words = path / "words"
        self.quads = path / "quads"
        self.report = path / "report.html"
        self.warc = path / "warc"
        self.filters = path / "filters.json"
        self.journal = path / "journal"
        self.log = path / "crawl.log"
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
            self.path.mkdir(mode=_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise JobError(f"the folder {self.path} cannot be made: {error.strerror}") from error
        self.lock()
        self.keep(job)

    @property
    def leaves_index_for_later(self) -> bool:
        """Whether the job says so; read here without all that a job needs, since every query asks."""
        try:
            return tomllib.loads(self.job_file.read_text(encoding="utf-8")).get("index") == "later"
        except (OSError, ValueError):  # the command that needs the job tells of it
            return False

    def require(self) -> None:
        """An error where there is no crawl here."""
        if not self.holds_a_crawl:
            raise JobError(f"{self.path} holds no crawl: make one with `motherlode crawl SEED... -o {self.path}`")

    def job(self) -> Job:
        from motherlode.crawler.config.job import Job, read_job_file

        self.require()
        values = read_job_file(self.job_file)
        if self.secrets_file.exists():
            values |= read_job_file(self.secrets_file)
        if "seeds" not in values:  # every job that was kept has them, if only an empty list
            what = "holds no seeds" if values else "is empty"
            raise JobError(
                f"{self.job_file} {what}, so it is not what the crawl wrote there. Put back a copy if you have one; "
                'or write again what was asked for, beginning with seeds = ["http://…"]: see docs/crawl.md'
            )
        return Job(**values)

    def keep(self, job: Job) -> None:
        """Write down what is asked for now, so that the next run knows it; the folder is locked."""
        from motherlode.crawler.config.job import job_to_toml, secret_keys

        secret = secret_keys(job)
        try:
            if secret:
                _replace(self.secrets_file, job_to_toml(job, only=secret), mode=0o600)
            _replace(self.job_file, job_to_toml(job, without=secret), mode=0o644)
            if not secret:
                self.secrets_file.unlink(missing_ok=True)
        except OSError as error:
            raise JobError(f"{self.job_file} cannot be written: {error.strerror}") from error

    def hide_secrets(self) -> None:
        """Take passwords out of the job file of an older version, which everybody may read; the folder is locked."""
        from motherlode.crawler.config.job import holds_password

        if holds_password(self.job_file.read_text(encoding="utf-8")):
            self.keep(self.job())

    def lock(self) -> None:
        """Keep other processes from crawling into this folder; given back when the process ends, however it ends."""
        if self._lock is not None:
            return
        try:
            self._lock = (self.path / "lock").open("ab")
        except OSError as error:
            raise JobError(f"the folder {self.path} cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            self._lock = None
            raise JobError(f"another process is crawling into {self.path}: stop it first, or wait") from None

    @property
    def is_in_use(self) -> bool:
        """Whether a process crawls into the folder."""
        if self._lock is not None:
            return True
        try:
            handle = os.open(self.path / "lock", os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def shards(self) -> list[CrawlFolder]:
        """The folders of a crawl's shards, by number; none where it has only one."""
        found = [CrawlFolder(path) for path in sorted((self.path / "shards").glob("[0-9]*"))]
        return [part for part in found if part.holds_a_crawl]

    def warc_files(self) -> list[Path]:
        """The kept answers in the order in which they came, those of one shard after those of the other."""
        own = sorted(self.warc.glob("*.warc.gz"))
        return own + [path for part in self.shards() for path in part.warc_files()]

    def disk_use(self) -> int:
        """Bytes of all files below the folder, as the disk counts them (the frontier's file is sparse)."""
        places = (Path(root) / name for root, _, names in os.walk(self.path) for name in names)
        return sum(dict(map(_blocks, places)).values()) * 512


def _replace(path: Path, text: str, *, mode: int) -> None:
    """Write a file as a whole: after a loss of power it is the old one or the new one."""
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _blocks(place: Path) -> tuple[int, int]:
    """Which file it is, for readers of the store link to its files, and how many blocks it takes."""
    try:
        found = place.stat()
    except FileNotFoundError:  # a crawl that runs merges its files and takes the old ones away
        return 0, 0
    return found.st_ino, found.st_blocks
