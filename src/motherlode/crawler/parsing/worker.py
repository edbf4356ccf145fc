"""A reader process: frames of MessagePack in on stdin, frames out on stdout, until stdin closes.

A process of its own, because a page may be hostile: one that hangs or crashes a parser costs this process, which the
pool replaces, and never the crawl. When the crawl dies, stdin closes, and so the worker ends as well.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

import msgspec

from motherlode.crawler.parsing.messages import PageBody, ParseOptions
from motherlode.crawler.parsing.page_parser import PageParser
from motherlode.runtime.frames import STATUS_ERROR, STATUS_OK, read_frame, write_frame
from motherlode.transform.timeouts import ExtractorTimeout, shared_timer

MEMORY = 4 << 30
"""Bytes of address space; a page that needs more ends the worker, not the machine."""


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the crawl, which lets us finish our page
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=1 << 20)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing that prints can break the frames
    first = read_frame(source)
    if first is None:
        return
    reader = PageParser(msgspec.msgpack.decode(first, type=ParseOptions))
    write_frame(sink, STATUS_OK)  # ready: from here on the clock of a page measures the page
    decode, encode = msgspec.msgpack.Decoder(PageBody).decode, msgspec.msgpack.Encoder().encode
    with shared_timer():
        while (frame := read_frame(source)) is not None:
            try:
                answer = STATUS_OK + encode(reader.read(decode(frame)))
            except (Exception, ExtractorTimeout) as error:  # noqa: BLE001 - whatever a page provokes is this page's failure, on record
                answer = STATUS_ERROR + f"{type(error).__name__}: {error}".encode("utf-8", "replace")
            try:
                write_frame(sink, answer)
            except BrokenPipeError:  # the crawl was killed: there is nobody left to tell
                os._exit(0)


if __name__ == "__main__":
    main()
