"""The controls of the dashboard: pause, resume, stop, change the budget and the filters, exclude a host."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from motherlode.crawler.control import Control, read_control, write_control
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.url_rules import add_filter, remove_filter
from motherlode.serve.api import respond

_HOST = re.compile(r"[a-z0-9.:\[\]_-]{1,255}")
_MAX_DIGITS = 12


class Controls:
    """Carries out the actions of `POST /control`. The caller has checked the token."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder

    async def handle(self, request: web.Request) -> web.Response:
        """Carry out the action in a form, and return to the overview; or answer with JSON if the client wants it."""
        form = await request.post()
        action, value = (str(form.get(name, "")).strip() for name in ("action", "value"))
        wants_json = "application/json" in request.headers.get("Accept", "")
        try:
            await asyncio.to_thread(self._act, action, value)
        except ValueError as error:
            return respond({"error": str(error)}, status=400)
        if wants_json:
            return respond(read_control(self._folder))
        return web.Response(status=303, headers={"Location": "/"})

    def _act(self, action: str, value: str) -> None:
        now = read_control(self._folder)
        if action in ("pause", "resume"):
            self._write(now, is_paused=action == "pause")
        elif action == "stop":
            self._write(now, is_stopped=True)
        elif action == "budget":
            self._write(now, pages=_parse_number(value))
        elif action == "exclude":
            add_filter(self._folder.filters, exclusion_pattern(value), deny=True)
        elif action in ("deny", "allow"):
            add_filter(self._folder.filters, value, deny=action == "deny")
        elif action == "remove":
            remove_filter(self._folder.filters, _parse_number(value))
        else:
            raise ValueError(f"{action!r} is not an action: pause, resume, stop, budget, exclude, deny, allow, remove")

    def _write(self, now: Control, **changes: bool | int) -> None:
        write_control(self._folder, msgspec.structs.replace(now, **changes))


def exclusion_pattern(host: str) -> str:
    """Return the filter that denies all URLs of a host. ValueError if it is no host name."""
    name = host.lower()
    if _HOST.fullmatch(name) is None:
        raise ValueError(f"{host!r} is not the name of a host")
    return f"^https?://{re.escape(name)}(:[0-9]+)?(/|$)"


def _parse_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS and int(text) > 0):
        raise ValueError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def is_foreign(request: web.Request) -> bool:
    """Return whether a page of another origin sent the request."""
    origin = request.headers.get("Origin", "")
    return bool(origin) and urlsplit(origin).netloc != request.host
