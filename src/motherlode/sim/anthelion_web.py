"""The data files of Anthelion's experiments (Web Data Commons) as a web for simulations.

The authors' simulator reads three text files, tab-separated, one record per line, plain or gzipped:

- index: `ID URL`, a page;
- network: `ID ID ID …`, a page and the pages that it links to;
- label: `ID …`, a page that is relevant. Further columns, and ids that the index lacks, are ignored.

Pages have no content, no redirects and no link context. They are HTML pages without statements, and the label file
takes the place of the target.

The files are read once, line by line, into arrays (`convert`), and the web maps these arrays into memory, so that
several processes share them. A page takes about 50 bytes and its URL, a link 4 bytes, so the 5.5 million pages of the
paper fit into the memory of a small machine.
"""

from __future__ import annotations

import gzip
import os
import shutil
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from motherlode.model import FailureKind, Link, LinkSource
from motherlode.sim.trace.files import TraceError
from motherlode.sim.trace.trace_web import latency_of
from motherlode.sim.web_protocol import SimPage
from motherlode.www.urls import host_of, plain_url, resolve_as_written

ANTHELION = "anthelion:"
DEFAULT_ROOT = 96439052
"""The page at which the authors' program starts."""
_KINDS = ("index", "network", "label")
_CHUNK_LINKS = 1 << 20
_ARRAYS = ("ids", "urls", "url_ends", "hashes", "rows", "relevant", "targets", "line_rows", "line_ends")

Progress = Callable[[int, int], None]
"""Called with the number of bytes that were read, and of all bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthelionFiles:
    """The three files, and the page at which a crawl starts."""

    index: Path
    network: Path
    label: Path
    root: int | None = None
    """Id of the page at which a crawl starts. None: the authors' root if the index has it, otherwise the home page of
    every host."""

    @property
    def paths(self) -> tuple[Path, Path, Path]:
        return self.index, self.network, self.label

    def key(self) -> str:
        """Return a name for the converted files that changes when a file changes."""
        stats = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in self.paths]
        return f"anthelion-{xxhash.xxh3_64_hexdigest(repr(stats).encode())}"


def find_files(name: str) -> AnthelionFiles:
    """Return the files that a user names by `anthelion:DIR[:key=value,…]`.

    DIR contains one file whose name starts with each of `index`, `network` and `label`. The keys `index`, `network` and
    `label` name other files of the folder, and `root` is the id of the start page. Raises TraceError if one is missing.
    """
    folder_name, options = _split(name)
    folder = Path(folder_name)
    if not folder.is_dir():
        raise TraceError(f"{folder_name} is not a folder: give {ANTHELION}DIR with the files index, network and label")
    unknown = ", ".join(sorted(set(options) - {*_KINDS, "root"}))
    if unknown:
        raise TraceError(f"unknown option {unknown} in {name!r}: the options are index, network, label and root")
    root = options.pop("root", None)
    if root is not None and not (root.isascii() and root.isdigit()):
        raise TraceError(f"root is the numeric id of a page; got {root!r}")
    index, network, label = (_find(folder, kind, options.get(kind)) for kind in _KINDS)
    return AnthelionFiles(index=index, network=network, label=label, root=None if root is None else int(root))


def _split(name: str) -> tuple[str, dict[str, str]]:
    """Return the folder and the options in `anthelion:DIR[:key=value,…]`."""
    folder_name, _, last = name.removeprefix(ANTHELION).rpartition(":")
    if not folder_name or "=" not in last:
        return name.removeprefix(ANTHELION), {}
    parts = (option.partition("=") for option in last.split(","))
    return folder_name, {key: value for key, _, value in parts}


def _find(folder: Path, kind: str, given: str | None) -> Path:
    if given is not None:
        if not (folder / given).is_file():
            raise TraceError(f"{folder / given} is not a file")
        return folder / given
    found = sorted(path for path in folder.iterdir() if path.is_file() and path.name.lower().startswith(kind))
    if len(found) != 1:
        what = "has no file" if not found else f"has {len(found)} files ({', '.join(path.name for path in found)})"
        raise TraceError(f"{folder} {what} whose name starts with {kind!r}: name it, as in {ANTHELION}DIR:{kind}=FILE")
    return found[0]


# ── reading


class _Lines:
    """Reads the lines of the files, and reports how many bytes were read."""

    def __init__(self, files: AnthelionFiles, progress: Progress) -> None:
        self._progress = progress
        self._total = sum(path.stat().st_size for path in files.paths)
        self._done = 0

    def read(self, path: Path) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the content of each line that is not empty. Raises TraceError if the file is damaged."""
        with path.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file = gzip.GzipFile(fileobj=raw) if zipped else raw
            try:
                for number, line in enumerate(file, 1):
                    if number % 100_000 == 0:
                        self._progress(self._done + raw.tell(), self._total)
                    if line.strip():
                        yield number, line.strip()
            except (EOFError, gzip.BadGzipFile) as error:
                raise TraceError(f"{path} is damaged: {error}") from error
        self._done += path.stat().st_size
        self._progress(self._done, self._total)


def _ids(path: Path, number: int, fields: list[bytes]) -> list[int]:
    try:
        return [int(field) for field in fields]
    except ValueError:
        shown = b"\t".join(fields)[:60]
        raise TraceError(f"{path}, line {number}: ids are whole numbers separated by tabs; got {shown!r}") from None


def convert(files: AnthelionFiles, folder: Path, progress: Progress = lambda done, total: None) -> None:
    """Read the three files into arrays in a new folder. If the folder exists already, nothing is done."""
    if folder.exists():
        return
    part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    try:
        lines = _Lines(files, progress)
        ids = _convert_index(lines, files.index, part)
        _convert_network(lines, files.network, part, ids)
        labelled = array("q", (_ids(files.label, n, line.split()[:1])[0] for n, line in lines.read(files.label)))
        relevant = np.zeros(len(ids), dtype=bool)
        rows = _rows_of(ids, np.array(labelled, dtype=np.int64))
        relevant[rows[rows >= 0]] = True
        np.save(part / "relevant.npy", relevant)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _convert_index(lines: _Lines, path: Path, folder: Path) -> NDArray[np.int64]:
    """Write ids (sorted), URLs and hashes of URLs. Return the ids."""
    found, hashes, ends, blob = array("q"), array("Q"), array("q"), bytearray()
    for number, line in lines.read(path):
        first, _, text = line.partition(b"\t")
        found.extend(_ids(path, number, [first]))
        url = _as_url(text.decode("utf-8", "replace")).encode()
        hashes.append(xxhash.xxh3_64_intdigest(url))
        blob += url
        ends.append(len(blob))
    ids = np.array(found, dtype=np.int64)
    if not len(ids):
        raise TraceError(f"{path} has no page")
    order = np.argsort(ids, kind="stable")
    if len(ids) > 1 and not np.diff(ids[order]).all():
        raise TraceError(f"{path} has the same id in two lines")
    by_hash = np.argsort(np.array(hashes, dtype=np.uint64), kind="stable")
    row_of = np.empty(len(ids), dtype=np.int32)
    row_of[order] = np.arange(len(ids), dtype=np.int32)
    starts = np.concatenate(([0], np.array(ends, dtype=np.int64)[:-1]))
    for name, values in (
        ("ids", ids[order]),
        ("urls", np.frombuffer(blob, dtype=np.uint8)),
        ("url_ends", np.stack((starts[order], np.array(ends, dtype=np.int64)[order]))),
        ("hashes", np.array(hashes, dtype=np.uint64)[by_hash]),
        ("rows", row_of[by_hash]),
    ):
        np.save(folder / f"{name}.npy", values)
    return ids[order]


def _as_url(text: str) -> str:
    """Return the URL as the frontier spells it; unchanged if it is not an http(s) URL."""
    url = text.strip()
    url = url if "://" in url else f"http://{url}"
    return plain_url(url) or resolve_as_written(url, url) or url


def _convert_network(lines: _Lines, path: Path, folder: Path, ids: NDArray[np.int64]) -> None:
    """Write, for each line, the row of its page and the rows of the linked pages that are in the index."""
    line_rows, line_ends, total = [], [], 0
    with (folder / "targets.bin").open("wb") as out:
        for sources, counts, targets in _network_chunks(lines, path):
            rows = _rows_of(ids, targets)
            owners = np.repeat(np.arange(len(counts)), counts)
            known = rows >= 0
            rows[known].astype(np.int32).tofile(out)
            ends = total + np.cumsum(np.bincount(owners[known], minlength=len(counts)))
            line_rows.append(_rows_of(ids, sources))
            line_ends.append(ends)
            total = int(ends[-1])
    line_row = np.concatenate([np.empty(0, dtype=np.int64), *line_rows])
    line_end = np.concatenate([np.empty(0, dtype=np.int64), *line_ends])
    order = np.argsort(line_row, kind="stable")
    line_start = np.concatenate((np.zeros(min(1, len(line_end)), dtype=np.int64), line_end[:-1]))
    np.save(folder / "line_rows.npy", line_row[order].astype(np.int32))
    np.save(folder / "line_ends.npy", np.stack((line_start[order], line_end[order])))
    binary = folder / "targets.bin"
    targets = np.memmap(binary, dtype=np.int32, mode="r") if total else np.empty(0, dtype=np.int32)
    np.save(folder / "targets.npy", targets)
    binary.unlink()


_Chunk = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def _network_chunks(lines: _Lines, path: Path) -> Iterator[_Chunk]:
    """Yield pages, their numbers of links and the targets of these links, for about a million links at a time."""
    sources, counts, targets = array("q"), array("q"), array("q")
    for number, line in lines.read(path):
        first, *others = _ids(path, number, line.split())
        sources.append(first)
        counts.append(len(others))
        targets.extend(others)
        if len(targets) >= _CHUNK_LINKS:
            yield np.array(sources), np.array(counts), np.array(targets)
            sources, counts, targets = array("q"), array("q"), array("q")
    if sources:
        yield np.array(sources), np.array(counts), np.array(targets, dtype=np.int64)


def _rows_of(ids: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row number of each id in the sorted index, or -1 if the index lacks the id."""
    positions = np.searchsorted(ids, wanted)
    positions[positions == len(ids)] = 0
    return np.where(ids[positions] == wanted, positions, -1)


# ── the web


class AnthelionWeb:
    """The converted files as a web. Links to pages that the index lacks are left out."""

    def __init__(self, folder: Path, root: int | None = None) -> None:
        loaded = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
        self._ids, self._urls, self._url_ends = loaded["ids"], loaded["urls"], loaded["url_ends"]
        self._hashes, self._rows, self._relevant = loaded["hashes"], loaded["rows"], loaded["relevant"]
        self._targets, self._line_rows, self._line_ends = loaded["targets"], loaded["line_rows"], loaded["line_ends"]
        self._root = self._root_row(root)

    def _root_row(self, root: int | None) -> int | None:
        row = int(_rows_of(self._ids, np.array([DEFAULT_ROOT if root is None else root]))[0])
        if row < 0 and root is not None:
            raise TraceError(f"the index has no page with the id {root}, which was given as root")
        return row if row >= 0 else None

    @property
    def page_count(self) -> int:
        return len(self._ids)

    def _url(self, row: int) -> str:
        start, end = self._url_ends[:, row]
        return bytes(self._urls[start:end]).decode()

    def _row(self, url: str) -> int | None:
        wanted = np.uint64(xxhash.xxh3_64_intdigest(url.encode("utf-8", "replace")))
        position = int(np.searchsorted(self._hashes, wanted))
        return int(self._rows[position]) if position < len(self._hashes) and self._hashes[position] == wanted else None

    def page(self, url: str) -> SimPage:
        row = self._row(url)
        latency = latency_of(host_of(url))
        if row is None:
            return SimPage(url=url, failure=FailureKind.NOT_FOUND, latency=latency)
        return SimPage(url=url, relevant=bool(self._relevant[row]), links=self._links(row), latency=latency)

    def _links(self, row: int) -> list[Link]:
        first, last = (int(np.searchsorted(self._line_rows, row, side=side)) for side in ("left", "right"))
        spans = self._line_ends[:, first:last].T.tolist()
        targets = dict.fromkeys(target for start, end in spans for target in self._targets[start:end].tolist())
        return [Link(url=self._url(target), source=LinkSource.ANCHOR) for target in targets]

    def spelling(self, url: str) -> str:
        return url

    def home_pages(self) -> list[str]:
        """Return the root page, or the shortest URL of each host if there is no root."""
        if self._root is not None:
            return [self._url(self._root)]
        homes: dict[str, str] = {}
        for row in range(len(self._ids)):
            url = self._url(row)
            known = homes.setdefault(host_of(url), url)
            if (len(url), url) < (len(known), known):
                homes[host_of(url)] = url
        return list(homes.values())

    def everything(self) -> Iterator[SimPage]:
        return (self.page(self._url(row)) for row in range(len(self._ids)))

    def labels(self) -> Iterator[tuple[str, bool]]:
        return ((self._url(row), bool(self._relevant[row])) for row in range(len(self._ids)))


def prepare(name: str, cache: Path, progress: Progress) -> str:
    """Convert the files that a user names, and return the name of the converted web for `open_converted`."""
    files = find_files(name)
    folder = cache / files.key()
    convert(files, folder, progress)
    return f"{ANTHELION}{folder}" + ("" if files.root is None else f":root={files.root}")


def open_converted(name: str, target: str) -> AnthelionWeb:
    """Open the web that `prepare` returned. Raises TraceError if `target` is not `any`: a file has the labels."""
    if target != "any":
        raise TraceError(f"these files have no content for the target {target}: name another label file by label=FILE")
    folder_name, options = _split(name)
    root = options.get("root")
    return AnthelionWeb(Path(folder_name), None if root is None else int(root))
