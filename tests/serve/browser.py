"""A real browser for tests: headless Chromium, controlled by the DevTools protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect


def chromium() -> str:
    """Return the path of the browser. Without a browser, skip the test, or fail if CI=true."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        message = "chromium is not installed: this test loads pages in a real browser"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return found


class Tab:
    """A page (tab) of the browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        session = {"sessionId": self._session} if self._session else {}
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters, **session}))
        while True:
            message = json.loads(self._socket.recv(timeout=120))
            if message.get("id") == self._number:
                assert "error" not in message, message
                found: dict[str, Any] = message["result"]
                return found
            self.events.append(message)

    def load(self, url: str) -> None:
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(json.loads(self._socket.recv(timeout=120)))
        self.evaluate("new Promise(done => setTimeout(done, 30))")

    def evaluate(self, script: str) -> Any:
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def problems(self) -> list[str]:
        """Return the messages on the browser's console."""
        entries = (event["params"] for event in self.events if event.get("method") == "Log.entryAdded")
        thrown = (event["params"] for event in self.events if event.get("method") == "Runtime.exceptionThrown")
        return [entry["entry"]["text"] for entry in entries] + [str(entry) for entry in thrown]


@contextmanager
def browser(folder: Path) -> Iterator[Tab]:
    command = [
        *(chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--remote-debugging-port=0", f"--user-data-dir={folder}", "--no-first-run", "about:blank"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        place = folder / "DevToolsActivePort"
        for _ in range(1200):
            if place.exists() and len(place.read_text().splitlines()) == 2:
                break
            assert process.poll() is None, "chromium ended"
            time.sleep(0.1)
        port, path = place.read_text().splitlines()
        with connect(f"ws://127.0.0.1:{port}{path}", max_size=None) as socket:
            yield Tab(socket)
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
