"""Helpers for tests of several packages: the path of ../shared, and small recorded webs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from motherlode.fetch.warc.writer import WarcFile, WarcResponse
from motherlode.sim.synthetic.synthetic_web import SyntheticWeb
from motherlode.transform.options import GROUP

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared(*parts: str) -> Path:
    """A path below ../shared; the test skips where it is absent, and fails where that must not be (CI=true)."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        message = f"{path.relative_to(SHARED.parent)} is absent: this test reads third-party data from ../shared"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


def write_warc(path: Path, responses: Iterable[tuple[str, int, dict[str, str], bytes]]) -> Path:
    """A WARC file of responses: url, status, headers, body."""
    file = WarcFile(path)
    for url, status, headers, body in responses:
        file.append(WarcResponse(url=url, at=0.0, status=status, headers=headers, body=body))
    file.close()
    return path


def synthetic_warc(path: Path, *, pages: int, seed: int) -> tuple[Path, list[str]]:
    """The finite part of a synthetic web, and the home pages of its hosts."""
    web = SyntheticWeb(pages, seed)
    hosts = [host for host in web.hosts() if web.profile(host).trap is None]

    def responses() -> Iterable[tuple[str, int, dict[str, str], bytes]]:
        for host in hosts:
            for url in web.urls(host):
                answer = web.answer(url, attempt=1)
                yield url, answer.status, dict(answer.headers), answer.body

    return write_warc(path, responses()), [web.home(host) for host in hosts]


_TRANSFORMER = """
def transform(*, body, url, content_type):
    return "text/turtle", f"<{url}> <http://purl.org/dc/terms/extent> {len(body)} .".encode()
"""


def install_pdf_transformer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with a transformer for PDFs, as installed for this process and for those that it starts."""
    about = folder / "pdf_reader-1.dist-info"
    about.mkdir(parents=True)
    (folder / "pdf_reader.py").write_text(_TRANSFORMER, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pdf_reader\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\napplication/pdf = pdf_reader:transform\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))
