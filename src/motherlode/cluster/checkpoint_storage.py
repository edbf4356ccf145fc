"""Checkpoints of a shard in a place that outlives its machine: a folder, or object storage, by fsspec.

A checkpoint is a manifest that names objects by the hash of their content. The store's data files never change once
they are written, so each is uploaded once; the frontier is copied whole. The frontier's copy is begun before the
store's: the store may know more pages than the frontier, which fetches them again, but never fewer. The manifest is
written when all that it names is there, and `latest.json` after it, so whoever restores finds a whole checkpoint or the
one before it. Objects that neither of the last two name are removed.

What can be lost with a machine is what its shard did since the last checkpoint: those pages are fetched again. Links
that it acknowledged are not lost: where there are checkpoints, a link is acknowledged when it is in one.
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
    from motherlode.index import CrawlStore

_NUMBER = "checkpoint"
"""A file in the shard's folder that holds the number of its last checkpoint."""
_PIECE = 1 << 20


class CheckpointStorage:
    """All checkpoints of one shard."""

    def __init__(self, place: str, shard: int) -> None:
        import fsspec  # type: ignore[import-untyped]  # heavy, and most crawls need none of it

        self._files, root = fsspec.core.url_to_fs(place)
        self._root = f"{root.rstrip('/')}/shard-{shard:04d}"
        self._files.makedirs(f"{self._root}/objects", exist_ok=True)
        self._known: dict[tuple[str, int, int], str] = {}
        """Objects of data files that were uploaded: by name, size and time of change."""
        latest = self._latest()
        self._number = latest["number"] if latest else 0
        self._named: list[set[str]] = [set(latest["files"].values())] if latest else []
        """Objects of the last two manifests."""
        self.uploaded = 0
        """Bytes, packed."""

    def _latest(self) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = json.loads(self._files.cat_file(f"{self._root}/latest.json"))
        except FileNotFoundError:
            return None
        return found

    # ── making one ───────────────────────────────────────────────────────────────────────────────────

    def make(self, folder: CrawlFolder, storage: LmdbStorage, store: CrawlStore) -> None:
        """Upload the state of a shard while it goes on. Runs in a thread of its own."""
        copy = folder.path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        storage.copy(copy / "frontier")
        store.backup(copy / "store")
        shutil.copy(folder.job_file, copy / folder.job_file.name)
        try:
            self._upload(copy)
        finally:
            shutil.rmtree(copy)
        (folder.path / _NUMBER).write_text(str(self._number))

    def _upload(self, copy: Path) -> None:
        names = sorted(path for path in copy.rglob("*") if path.is_file() and path.name != "LOCK")
        files = {str(path.relative_to(copy)): self._object(path) for path in names}
        manifest = {"number": self._number + 1, "files": files}
        self._put("latest.json", json.dumps(manifest).encode())
        self._number += 1
        self._named.append(set(files.values()))
        self._forget()

    def _object(self, path: Path) -> str:
        """The name of the object that holds a file, uploaded where it is not there yet."""
        about = path.stat()
        key = (path.name, about.st_size, about.st_mtime_ns)
        if path.suffix == ".sst" and key in self._known:
            return self._known[key]
        digest = xxhash.xxh3_128()
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
        name: str = digest.hexdigest()
        if not any(name in names for names in self._named):
            packed = path.with_name(path.name + ".zst")
            with path.open("rb") as file, packed.open("wb") as out:
                zstandard.ZstdCompressor(level=1).copy_stream(file, out)
            self._files.put_file(str(packed), f"{self._root}/objects/{name}")
            self.uploaded += packed.stat().st_size
            packed.unlink()
        self._known[key] = name
        return name

    def _put(self, name: str, data: bytes) -> None:
        """Write a small file at once: a reader sees the old one or the new one."""
        self._files.pipe_file(f"{self._root}/{name}.new", data)
        self._files.mv(f"{self._root}/{name}.new", f"{self._root}/{name}")

    def _forget(self) -> None:
        if len(self._named) <= 2:
            return
        gone = self._named.pop(0) - self._named[0] - self._named[1]
        for name in gone:
            self._files.rm_file(f"{self._root}/objects/{name}")
        self._known = {key: name for key, name in self._known.items() if name not in gone}

    # ── going back to one ────────────────────────────────────────────────────────────────────────────

    def is_newer_than(self, folder: CrawlFolder) -> bool:
        """A folder from a machine that lost the shard, and got it back, may be behind."""
        if not self._number:
            return False
        try:
            return int((folder.path / _NUMBER).read_text()) < self._number
        except (FileNotFoundError, ValueError):
            return True

    def clear(self, folder: CrawlFolder) -> None:
        """Remove a folder whose last state is in a checkpoint. Its store may still be tidying up its files."""
        (folder.path / _NUMBER).unlink(missing_ok=True)  # first: what is left over must never pass for up to date
        shutil.rmtree(folder.path, ignore_errors=True)

    def restore(self, folder: CrawlFolder) -> None:
        """Put the last checkpoint in the place of the folder."""
        latest = self._latest()
        if latest is None:
            raise ValueError(f"there is no checkpoint in {self._root}")
        shutil.rmtree(folder.path, ignore_errors=True)
        for name, made in latest["files"].items():
            path = folder.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._files.open(f"{self._root}/objects/{made}", "rb") as file, path.open("wb") as out:
                zstandard.ZstdDecompressor().copy_stream(file, out)
        (folder.path / _NUMBER).write_text(str(latest["number"]))
