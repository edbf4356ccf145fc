"""The process that answers, frame by frame."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec

from motherlode.index import QuadStore
from motherlode.index.queries.worker import CUT, DONE, FAILED, HEAD, LENGTH, PIECE, READY, WRONG, Order
from tests.index.fakes import record, says


def frames(store: Path, *orders: Order) -> list[tuple[bytes, bytes]]:
    command = [sys.executable, "-m", "motherlode.index.queries.worker", str(store), str(store.with_name("words"))]
    encoded = [msgspec.msgpack.encode(order) for order in orders]
    sent = b"".join(LENGTH.pack(len(content)) + content for content in encoded)
    output = subprocess.run(command, input=sent, capture_output=True, timeout=60, check=True).stdout
    found = []
    while output:
        size = LENGTH.unpack(output[: LENGTH.size])[0]
        frame, output = output[LENGTH.size : LENGTH.size + size], output[LENGTH.size + size :]
        found.append((frame[:1], frame[1:]))
    return found


def test_orders_are_answered_one_after_the_other(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    store.write([record("http://a.test/", *(says(f"x{n}", f"v{n}") for n in range(500)))])
    store.flush()
    found = frames(
        tmp_path / "store",
        Order(sparql="ASK {}"),
        Order(sparql="SELECT {"),
        Order(sparql="SELECT * { ?s ?p ?o }", most=10_000),
        Order(sparql="CONSTRUCT WHERE { ?s ?p ?o }", graph="application/n-triples"),
    )
    kinds = b"".join(kind for kind, _ in found)
    assert kinds.startswith(READY + HEAD + PIECE + DONE + WRONG + HEAD)
    assert kinds.endswith(CUT + HEAD + PIECE + DONE)
    assert found[-3][1] == b"graph"
    assert found[-2][1].count(b" .\n") == 500
    assert not list(tmp_path.glob("store.readers")), "it leaves nothing behind"


def test_without_a_store_it_says_so(tmp_path: Path) -> None:
    ((kind, message),) = frames(tmp_path / "none")
    assert kind == FAILED
    assert b"none" in message
