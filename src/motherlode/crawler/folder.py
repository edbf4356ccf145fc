"""The crawl folder: paths of its files, the saved job, and the lock that allows one writer."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from motherlode.crawler.config.values import JobError
from motherlode.project import docs_url
from motherlode.runtime import is_file_locked

if TYPE_CHECKING:
    from motherlode.crawler.config.job import Job


_FOLDER_MODE = 0o700
"""Mode of a folder that a crawl creates: only its user may read it. An existing folder keeps its mode."""
_CRAWL_FILES = (
    *("frontier", "store", "store.readers", "store.damaged", "words", "quads", "quads.new", "quads.old", "journal"),
    *("warc", "sinks", "segments", "shards", "secrets.toml", "filters.json", "crawl.log", "control.json"),
    *("report.html", "changes.rdfp", "forever.json", "identity.db", "validation.json", "next-round.json"),
    *("clusters.nq.gz", "clusters.nq.gz.new", "validation.nq.gz", "validation.nq.gz.new"),
    "job.toml",
)
"""Files and folders that a crawl makes, the job last. Others in its folder belong to the user."""
_UNFINISHED_FILES = frozenset({"lock", "job.toml.new", "secrets.toml", "secrets.toml.new"})
"""Files that a crawl leaves if it ended before its job was saved."""
_BLOCK_BYTES = 512
"""Unit of `st_blocks`."""


class HasCrawlError(JobError):
    """A new crawl needs another folder, because this one has the pages of a crawl."""


class CrawlFolder:
    """The folder of one crawl, or of one shard.

    `job.toml` has the job, and `secrets.toml` its keys with passwords, if any. `frontier/` is the frontier storage,
    `store/` the quad store, `words/` the index of words and `report.html` the report. `quads/` is the log of quads.
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
        self.identity = path / "identity.db"
        self.validation = path / "validation.json"
        self._lock: BinaryIO | None = None

    @property
    def has_crawl(self) -> bool:
        return self.job_file.exists()

    def create(self, job: Job, *, force: bool = False) -> None:
        """Create and lock the folder of a new crawl. JobError if it is not empty.

        A crawl that fetched no page is replaced. With `force` any crawl is replaced, and its data is lost.
        """
        if self.has_crawl:
            self._make_free(force=force)
        elif self.path.exists() and not self._is_empty():
            raise JobError(f"{self.path} is not an empty folder: choose another with -o")
        try:
            self.path.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise JobError(f"the folder {self.path} cannot be created: {error.strerror}") from error
        self.lock()
        self.save_job(job)

    def _is_empty(self) -> bool:
        """Return whether the path is a folder without files, except those of a crawl whose job was not saved."""
        return self.path.is_dir() and {path.name for path in self.path.iterdir()} <= _UNFINISHED_FILES

    def _make_free(self, *, force: bool) -> None:
        """Lock the folder and remove the files of its crawl. JobError if the crawl has pages that must be kept."""
        self.lock()
        if not force and self._may_have_pages():
            self.unlock()
            raise HasCrawlError(
                f"{self.path} has a crawl already: `motherlode resume {self.path}` continues it, "
                "`motherlode stats` summarizes it; a new crawl needs another folder, or --force, which deletes this one"
            )
        for name in _CRAWL_FILES:
            path = self.path / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def _may_have_pages(self) -> bool:
        """Return whether the crawl fetched a page, or may have: its files cannot be read, or a journal is left."""
        from motherlode.crawler.stats.reader import read_stats

        if self.journal.is_dir() and any(path.stat().st_size for path in self.journal.iterdir()):
            return True
        try:
            return read_stats(self).totals.pages > 0
        except (JobError, OSError, ValueError, RuntimeError):
            return True

    def require(self) -> None:
        """Raise JobError if no crawl was started in the folder."""
        if self.has_crawl:
            return
        if self.frontier.exists() or self.quads.exists():
            raise JobError(f"the job of the crawl, {self.job_file}, is missing. {_job_advice()}")
        raise JobError(f"{self.path} has no crawl: start one with `motherlode crawl SEED... -o {self.path}`")

    def read_job(self) -> Job:
        """Read the saved job, also of a folder that an earlier version wrote."""
        from motherlode.crawler.config.job import Job
        from motherlode.crawler.config.job_file import read_job_file

        self.require()
        try:
            values = read_job_file(self.job_file, accept_renamed_keys=True)
        except JobError as error:
            raise JobError(f"{error}. {_job_advice()}") from error
        if self.secrets_file.exists():
            values |= read_job_file(self.secrets_file, accept_renamed_keys=True)
        if "seeds" not in values:  # every saved job has them, if only an empty list
            problem = "has no seeds" if values else "is empty"
            raise JobError(f"{self.job_file} {problem}, so it is not what the crawl wrote. {_job_advice()}")
        return Job(**values)

    def save_job(self, job: Job) -> None:
        """Write the job for later runs. The caller holds the lock."""
        from motherlode.crawler.config.job_file import job_to_toml, secret_keys

        secret = secret_keys(job)
        try:
            if secret:
                write_atomically(self.secrets_file, job_to_toml(job, only=secret).encode(), mode=0o600)
            write_atomically(self.job_file, job_to_toml(job, without=secret).encode())
            if not secret:
                self.secrets_file.unlink(missing_ok=True)
        except OSError as error:
            raise JobError(f"{self.job_file} cannot be written: {error.strerror}") from error

    def move_secrets(self) -> None:
        """Move passwords from a job file of an earlier version to the secrets file. The caller holds the lock."""
        from motherlode.crawler.config.values import has_password

        if has_password(self.job_file.read_text(encoding="utf-8")):
            self.save_job(self.read_job())

    def lock(self) -> None:
        """Lock the folder against other writers. The system releases the lock when the process ends."""
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
    def holds_lock(self) -> bool:
        """Whether this object holds the lock."""
        return self._lock is not None

    @property
    def is_in_use(self) -> bool:
        """Whether a process, this one or another, holds the lock."""
        return self._lock is not None or is_file_locked(self.path / "lock")

    def unlock(self) -> None:
        """Release the lock, if this object holds it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def shard_folders(self) -> list[CrawlFolder]:
        """Return the folders of the crawl's shards by number. The list is empty for a crawl without shards."""
        folders = [CrawlFolder(path) for path in sorted((self.path / "shards").glob("[0-9]*"))]
        return [folder for folder in folders if folder.has_crawl]

    def list_warc_files(self) -> list[Path]:
        own = sorted(self.warc.glob("*.warc.gz"))
        return own + [path for shard in self.shard_folders() for path in shard.list_warc_files()]

    def measure_disk_use(self) -> int:
        """Return the allocated bytes of all files in the folder. The file of the frontier is sparse."""
        paths = (Path(root) / name for root, _, names in os.walk(self.path) for name in names)
        return sum(dict(map(_inode_and_blocks, paths)).values()) * _BLOCK_BYTES


def _job_advice() -> str:
    advice = 'Restore a copy if you have one, or write the job again, beginning with seeds = ["http://…"]: see '
    return advice + docs_url("crawl.md")


def write_atomically(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file so that readers, also after a power failure, find the old content or the new content."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names of the files in a folder durable, after files were created or renamed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _inode_and_blocks(path: Path) -> tuple[int, int]:
    """Return inode and allocated blocks. The inode is needed because snapshots of the store are hard links."""
    try:
        status = path.stat()
    except FileNotFoundError:  # a running crawl merges files and removes the old ones
        return 0, 0
    return status.st_ino, status.st_blocks
