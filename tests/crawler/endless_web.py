"""An endless web behind a proxy on loopback: every page links to pages of hosts that no other page links to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from aiohttp import web as http

from motherlode.crawler import Job
from tests.crawler.logged_web import LoggedWeb

SEED = "http://start.example/"


@dataclass
class EndlessWeb(LoggedWeb):
    """Each page has `pages` links to the home pages of other hosts, and ten to pages of its own host."""

    weight: int = 2000

    def job(self, **settings: Any) -> Job:
        usual: dict[str, Any] = {"delay": 0.0, "workers": 1, "proxy": f"http://127.0.0.1:{self.port}"}
        return Job(seeds=(SEED,), allow=("127.0.0.0/8",), **(usual | settings))

    async def _answer(self, request: http.BaseRequest) -> http.Response:
        if request.path == "/robots.txt":
            return http.Response(text="User-agent: *\nDisallow: /private\n")
        return http.Response(text=self._content(request.host, request.path), content_type="text/html")

    def _content(self, host: str, path: str) -> str:
        first = crc32(f"{host}{path}".encode())
        outer = [f"http://{host.partition('.')[0][:8]}{first:x}{number}.example/" for number in range(self.pages)]
        inner = [f"/{first:x}/{number}" for number in range(10)]
        links = "".join(f'<a href="{link}">x</a>' for link in outer + inner)
        data = {"@context": "http://schema.org/", "@id": path, "@type": "Thing", "name": host}
        script = f'<script type="application/ld+json">{json.dumps(data)}</script>' if first % 10 == 0 else ""
        return f"<html><head>{script}</head><body>{links}{'<!-- -->' * (self.weight // 8)}</body></html>"
