"""Main function of a parser process: it reads MessagePack frames from stdin and writes frames to stdout.

Pages are parsed in separate processes because a page may be hostile. If a page makes a parser hang or crash, only this
process is lost, and the pool replaces it. The process ends when stdin closes, which also happens if the crawl dies.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

import msgspec

from motherlode.runtime import STATUS_ERROR, STATUS_OK, process_start, read_frame, write_frame

MAX_MEMORY_BYTES = 4 << 30
"""Limit of the address space. A page that needs more ends the parser process and does not exhaust the machine."""


def main() -> None:
    """Parse pages until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl handles Ctrl-C and lets this process finish its page
    _limit_memory()
    with process_start():
        from motherlode.crawler.parsing.messages import PageBody, ParseOptions
        from motherlode.crawler.parsing.page_parser import PageParser
        from motherlode.transform.timeouts import ExtractorTimeout, shared_timer
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=1 << 20)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of print() goes to stderr and cannot corrupt the frames
    first = read_frame(source)
    if first is None:
        return
    parser = PageParser(msgspec.msgpack.decode(first, type=ParseOptions))
    write_frame(sink, STATUS_OK)  # ready: the timeout of the first page starts after this
    decode, encode = msgspec.msgpack.Decoder(PageBody).decode, msgspec.msgpack.Encoder().encode
    with shared_timer():
        while (frame := read_frame(source)) is not None:
            try:
                response = STATUS_OK + encode(parser.read(decode(frame)))
            except (Exception, ExtractorTimeout) as error:  # noqa: BLE001 - any error is recorded as the failure of this page
                response = STATUS_ERROR + f"{type(error).__name__}: {error}".encode("utf-8", "replace")
            try:
                write_frame(sink, response)
            except BrokenPipeError:  # the crawl was killed
                os._exit(0)


def _limit_memory() -> None:
    """Limit the address space, unless the user has set a lower limit, which cannot be raised."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = MAX_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MAX_MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
