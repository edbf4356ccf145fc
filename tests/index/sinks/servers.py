"""A real SPARQL server on loopback that tests can stop and restart, and a server with scripted responses."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest


def _program() -> str:
    beside = Path(sys.executable).with_name("oxigraph")
    found = str(beside) if beside.exists() else shutil.which("oxigraph")
    if found is None:
        message = 'the oxigraph server is absent: `pip install "motherlode[dev]"` brings it'
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return found


class OxigraphServer:
    """`oxigraph serve` on its own port. Its folder survives a restart."""

    def __init__(self, folder: Path) -> None:
        self._program = _program()
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.root = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [self._program, "serve", "--location", str(self._folder), "--bind", f"127.0.0.1:{self.port}"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.ask("ASK {}")
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def ask(self, query: str) -> list[dict[str, str]]:
        request = urllib.request.Request(
            f"{self.root}/query?query={quote(query)}", headers={"Accept": "application/sparql-results+json"}
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            found = json.load(response)
        rows = found.get("results", {}).get("bindings", [])
        return [{name: value["value"] for name, value in row.items()} for row in rows]

    def quads(self) -> set[tuple[str, str, str, str]]:
        rows = self.ask("SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }")
        return {(row["g"], row["s"], row["p"], row["o"]) for row in rows}


Script = Callable[[str, bytes], tuple[int, dict[str, str]]]


class ScriptedServer:
    """Responds to requests with the result of a function of method, path and body. Keeps a log of the requests."""

    def __init__(self, script: Script) -> None:
        self.log: list[tuple[str, bytes, dict[str, str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                line = f"{self.command} {self.path}"
                outer.log.append((line, body, dict(self.headers)))
                status, headers = script(line, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                text = b"" if status == 204 else f"said {status}".encode()
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the library's names

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.root = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
