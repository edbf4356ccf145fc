"""A crawl of pages that try to run scripts in the reader's browser, and a server for it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from motherlode.www.urls import canonical
from tests.support import write_warc

RUN = "document.documentElement.dataset.pwned='yes'"
"""The effect of every injection."""
INJECTIONS = (
    f"<script>{RUN}</script>",
    f"</title></textarea></style></pre><script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f'\'><svg onload="{RUN}">',
    f'" autofocus onfocus="{RUN}" x="',
    f'</bdi><iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f'<a href="javascript:{RUN}">click</a><form action="javascript:{RUN}"><button id="b">',
    "\u202e<!--<math><mi//xlink:href='data:x,'>",
)
SCRIPT_IRI = f"javascript:{RUN}"
HOME = "http://evil.test/"


def _things() -> list[dict[str, object]]:
    made: list[dict[str, object]] = [
        {"@id": f"{HOME}thing/{number}", "@type": "schema:Recipe", "schema:name": f"tomato {text}", "schema:text": text}
        for number, text in enumerate(INJECTIONS)
    ]
    made += [
        {
            "@type": f"{HOME}Type'\"onload=x",
            "schema:name": f"nameless {INJECTIONS[0]}",
            "schema:url": {"@id": SCRIPT_IRI},
        },
        {"@id": SCRIPT_IRI, "schema:name": "a thing whose name is a script"},
        {"@id": f"{HOME}same", "schema:sameAs": [{"@id": f"data:text/html,{INJECTIONS[0]}"}, {"@id": SCRIPT_IRI}]},
        {"@id": "http://plain.test/x", "schema:name": {"@value": "Zürich", "@language": "de"}},
    ]
    return made


def _page(number: int) -> bytes:
    data = json.dumps({"@context": {"schema": "http://schema.org/"}, "@graph": _things()}).replace("<", "\\u003c")
    text = INJECTIONS[number % len(INJECTIONS)]
    links = "".join(f'<a href="/p{n}?x=\'%22%3E%3Cscript%3E{RUN}%3C/script%3E">{text}</a>' for n in range(1, 4))
    title = text.replace("</title>", "").replace("<", "&lt;")
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title>"
        f'<meta name="description" content="{title.replace(chr(34), "&quot;")}">'
        f'<script type="application/ld+json">{data}</script></head>'
        f'<body>{links}<div itemscope itemtype="http://schema.org/Thing"><a itemprop="url" href="{SCRIPT_IRI}">x</a>'
        f'<span itemprop="name">{text.replace("<", "&lt;")}</span></div></body></html>'
    ).encode()


def page_url(number: int) -> str:
    """Return the URL of a page as the crawl writes it."""
    found = canonical(f"{HOME}p{number}?x='%22%3E%3Cscript%3E{RUN}%3C/script%3E")
    assert found is not None
    return found


def crawl(folder: Path) -> Path:
    """Crawl the hostile site, and return the crawl's folder."""
    html = {"Content-Type": "text/html; charset=utf-8"}
    pages = [(HOME, 200, html, _page(0)), ("http://evil.test/robots.txt", 404, {}, b"")]
    pages += [(page_url(n), 200, html, _page(n)) for n in range(1, 4)]
    warc = write_warc(folder / "web.warc.gz", pages)
    out = folder / "out"
    command = [sys.executable, "-m", "motherlode", "crawl", HOME, "--web", str(warc), "--delay", "0", "-o", str(out)]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["quads"] > 50
    return out


@contextmanager
def served(out: Path, *flags: str) -> Iterator[str]:
    """Start a server for a crawl, and yield its URL."""
    command = [sys.executable, "-m", "motherlode", "serve", str(out), "--port", "0", *flags]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        text = ""
        while (match := re.search(r"(http://127\.0\.0\.1:\d+)/", text)) is None:
            line = process.stderr.readline()
            assert line, f"the server did not start: {text}"
            text += line
        yield match[1]
    finally:
        process.terminate()
        process.communicate(timeout=120)
    assert process.returncode == 0


@asynccontextmanager
async def client_of(
    application: web.Application, *, cookies: aiohttp.CookieJar | None = None
) -> AsyncIterator[aiohttp.ClientSession]:
    """Serve an application in this process, and yield a client of it."""
    runner = web.AppRunner(application, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        async with aiohttp.ClientSession(f"http://127.0.0.1:{runner.addresses[0][1]}", cookie_jar=cookies) as session:
            yield session
    finally:
        await runner.cleanup()
