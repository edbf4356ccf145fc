"""Checkpoints of a shard in a folder or in object storage (by fsspec), where they survive the loss of the machine.

A checkpoint is a manifest that names objects by the hash of their content. It has the log of quads and not the store,
which is built from the log. Files of the log never change after they are finished, so each is uploaded once. The
frontier is copied completely and before the log. So the log may contain pages that the frontier does not know, which
are fetched again, but the frontier never counts a page as fetched that the log lacks. `latest.json`, the manifest, is
replaced after all its objects were uploaded. A reader therefore finds a complete checkpoint: the new one or the
previous one. Objects that neither of the last two manifests names are removed.

If a machine is lost, the pages that its shard fetched since the last checkpoint are fetched again. Acknowledged links
are not lost, because a shard with checkpoints acknowledges a link only after a checkpoint contains it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash
import zstandard

from motherlode.crawler import CrawlFolder

if TYPE_CHECKING:
    from motherlode.frontier import LmdbStorage
    from motherlode.index.nquads_log import NQuadsLog

_NUMBER_FILE = "checkpoint"
"""Name of a file in the shard's folder that contains the number of its last checkpoint."""
_READ_BYTES = 1 << 20


class CheckpointStorage:
    """The checkpoints of one shard below a URL or path."""

    def __init__(self, url: str, shard: int) -> None:
        import fsspec  # type: ignore[import-untyped]  # slow to import, and only crawls with checkpoints need it

        self._files, root = fsspec.core.url_to_fs(url)
        self._root = f"{root.rstrip('/')}/shard-{shard:04d}"
        self._files.makedirs(f"{self._root}/objects", exist_ok=True)
        self._object_names: dict[tuple[str, int, int], str] = {}
        """Object names of uploaded data files, by file name, size and modification time."""
        latest = self._read_latest()
        self._number = latest["number"] if latest else 0
        self._referenced: list[set[str]] = [set(latest["files"].values())] if latest else []
        """Object names in the last two manifests."""

    def _read_latest(self) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = json.loads(self._files.cat_file(f"{self._root}/latest.json"))
        except FileNotFoundError:
            return None
        return found

    def save(self, folder: CrawlFolder, storage: LmdbStorage, log: NQuadsLog) -> None:
        """Upload the state of a shard while it continues to crawl. Call this in a separate thread."""
        copy = folder.path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        storage.copy(copy / "frontier")
        log.backup(copy / folder.quads.name)
        shutil.copy(folder.job_file, copy / folder.job_file.name)
        try:
            self._upload(copy)
        finally:
            shutil.rmtree(copy)
        (folder.path / _NUMBER_FILE).write_text(str(self._number))

    def _upload(self, copy: Path) -> None:
        names = sorted(path for path in copy.rglob("*") if path.is_file() and path.name != "LOCK")
        files = {str(path.relative_to(copy)): self._upload_object(path) for path in names}
        manifest = {"number": self._number + 1, "files": files}
        self._write_atomically("latest.json", json.dumps(manifest).encode())
        self._number += 1
        self._referenced.append(set(files.values()))
        self._remove_unreferenced()

    def _upload_object(self, path: Path) -> str:
        """Upload a file unless its object exists already, and return the name of the object."""
        stat = path.stat()
        key = (path.name, stat.st_size, stat.st_mtime_ns)
        if path.suffix == ".gz" and key in self._object_names:
            return self._object_names[key]
        digest = xxhash.xxh3_128()
        with path.open("rb") as file:
            while chunk := file.read(_READ_BYTES):
                digest.update(chunk)
        name: str = digest.hexdigest()
        if not any(name in names for names in self._referenced):
            compressed = path.with_name(path.name + ".zst")
            with path.open("rb") as file, compressed.open("wb") as out:
                zstandard.ZstdCompressor(level=1).copy_stream(file, out)
            self._files.put_file(str(compressed), f"{self._root}/objects/{name}")
            compressed.unlink()
        self._object_names[key] = name
        return name

    def _write_atomically(self, name: str, data: bytes) -> None:
        """Replace a small file atomically: a reader sees the old content or the new content."""
        self._files.pipe_file(f"{self._root}/{name}.new", data)
        self._files.mv(f"{self._root}/{name}.new", f"{self._root}/{name}")

    def _remove_unreferenced(self) -> None:
        if len(self._referenced) <= 2:
            return
        unreferenced = self._referenced.pop(0) - self._referenced[0] - self._referenced[1]
        for name in unreferenced:
            self._files.rm_file(f"{self._root}/objects/{name}")
        self._object_names = {key: name for key, name in self._object_names.items() if name not in unreferenced}

    def is_newer_than(self, folder: CrawlFolder) -> bool:
        """Return whether the last checkpoint is newer than the folder.

        The folder is older if the shard ran on another machine in the meantime.
        """
        if not self._number:
            return False
        try:
            return int((folder.path / _NUMBER_FILE).read_text()) < self._number
        except (FileNotFoundError, ValueError):
            return True

    def clear(self, folder: CrawlFolder) -> None:
        """Remove a folder whose last state is in a checkpoint.

        Errors are ignored, because the store may still be deleting files.
        """
        # The number is removed first, so that a partly removed folder never counts as up to date.
        (folder.path / _NUMBER_FILE).unlink(missing_ok=True)
        shutil.rmtree(folder.path, ignore_errors=True)

    def restore(self, folder: CrawlFolder) -> None:
        """Replace the folder by the last checkpoint."""
        latest = self._read_latest()
        if latest is None:
            raise ValueError(f"there is no checkpoint in {self._root}")
        shutil.rmtree(folder.path, ignore_errors=True)
        for name, object_name in latest["files"].items():
            path = folder.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._files.open(f"{self._root}/objects/{object_name}", "rb") as file, path.open("wb") as out:
                zstandard.ZstdDecompressor().copy_stream(file, out)
        (folder.path / _NUMBER_FILE).write_text(str(latest["number"]))
