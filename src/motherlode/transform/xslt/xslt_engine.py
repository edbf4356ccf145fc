"""XML parsing and XSLT without access to files and the network; run as a program, the sandbox process.

The only module of this project that it imports is `runtime`, so that the sandbox process starts fast and needs little
memory. No entity is expanded, no DTD is loaded, no file or URL is opened: not by the parser, not by document(),
xsl:include or xsl:import, and not by elements that write files. In the sandbox process, resource limits enforce the
same: no new file descriptors, bounded memory and processor time.
"""

from __future__ import annotations

import json
import re
import resource
import struct
import sys
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from html.entities import html5
from typing import Any, NoReturn

from lxml import etree

from motherlode.runtime import read_frame, write_frame

FUNCTIONS = "urn:motherlode:functions"
"""Namespace of the functions that stylesheets may call."""
LIMITS = struct.Struct("!dQ")
"""First frame of a job: seconds, and bytes of the result. Stylesheet, document and base URL follow, a frame each."""
RDF_XML, TEXT, FAILED = b"X", b"T", b"F"
"""First byte of the first frame of a response; the result or the reason follows. The second frame is JSON: the faults
in the document."""
_MAX_MEMORY_BYTES = 2 << 30
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_MAX_FAULTS = 20

Fault = tuple[str, int | None, int | None]
"""An error in a document: message, line and column."""


class _DenyingResolver(etree.Resolver):  # type: ignore[misc] # lxml has no types
    """Refuses to load any resource that a document or a stylesheet refers to."""

    def resolve(self, system_url: str | None, _public_id: str | None, _context: object) -> NoReturn:
        raise PermissionError(f"a stylesheet may not load {system_url}")


def _create_parser(*, lenient: bool) -> Any:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=lenient, remove_pis=True
    )
    parser.resolvers.add(_DenyingResolver())
    return parser


def read_xml(body: bytes, base: str) -> tuple[Any, list[Fault]]:
    """Return the root element of a document, or None, and the errors in the document."""
    parser = _create_parser(lenient=True)
    try:
        root = etree.fromstring(body.lstrip(b" \t\r\n"), parser, base_url=base)
    except (etree.XMLSyntaxError, ValueError) as error:
        return None, [(str(error), None, None)]
    located = {(entry.line, entry.column): entry.message.strip() for entry in reversed(parser.error_log)}
    faults: list[Fault] = [(message, line, column) for (line, column), message in sorted(located.items())]
    if root is not None:
        faults = [*(fault for fault in faults if "Entity '" not in fault[0]), *_replace_entities(root)]
        _make_bases_absolute(root)
        _remove_rss_namespace(root)
    return root, faults[:_MAX_FAULTS]


def read_root(body: bytes, base: str) -> Any:
    """Return the root element of a large document without its content, or None if it is not in the first 64 KB."""
    parser = etree.XMLPullParser(
        events=("start",), resolve_entities=False, no_network=True, load_dtd=False, recover=True, base_url=base
    )
    try:
        parser.feed(body[:65536].lstrip(b" \t\r\n"))
    except etree.XMLSyntaxError:
        return None
    return next((element for _, element in parser.read_events()), None)


def _replace_entities(root: Any) -> list[Fault]:
    """Replace named entities of HTML, which many feeds use, by their characters; remove others and return an error."""
    faults: list[Fault] = []
    for entity in list(root.iter(etree.Entity)):
        text = html5.get(f"{entity.name};")
        if text is None:
            faults.append((f"the entity {entity.name[:50]} was left out", entity.sourceline, None))
        parent, before = entity.getparent(), entity.getprevious()
        text = (text or "") + (entity.tail or "")
        if before is not None:
            before.tail = (before.tail or "") + text
        else:
            parent.text = (parent.text or "") + text
        entity.tail = None
        parent.remove(entity)
    return faults


def _make_bases_absolute(root: Any) -> None:
    """Make each xml:base absolute, so that a stylesheet only needs the nearest one."""
    for element in root.xpath("//*[@xml:base]"):
        element.set(_XML_BASE, element.base or "")


def _remove_rss_namespace(root: Any) -> None:
    """Remove the namespace that some RSS feeds declare. RSS 2.0 has none."""
    namespace, name = split_name(root)
    if namespace and name == "rss":
        for element in root.iter(f"{{{namespace}}}*"):
            element.tag = element.tag.rpartition("}")[2]


def split_name(element: Any) -> tuple[str, str]:
    """Return namespace and local name of an element."""
    name = etree.QName(element)
    return name.namespace or "", name.localname


def compile_sheet(sheet: bytes) -> Any:
    """Return the compiled stylesheet; raise ValueError if it is invalid."""
    try:
        return etree.XSLT(
            etree.fromstring(sheet, _create_parser(lenient=False)),
            access_control=etree.XSLTAccessControl.DENY_ALL,
            extensions={(FUNCTIONS, "date"): _to_schema_date},
        )
    except (etree.XMLSyntaxError, etree.XSLTParseError, PermissionError) as error:
        raise ValueError(f"not a stylesheet: {error}") from error


def apply_sheet(transform: Any, root: Any, base: str) -> tuple[bytes, bytes]:
    """Return the kind (RDF_XML or TEXT) and bytes of a stylesheet's output; raise ValueError if it fails."""
    try:
        result = transform(root, base=etree.XSLT.strparam(base))
        kind = RDF_XML if result.getroot() is not None else TEXT
        return kind, bytes(result)
    except etree.XSLTError as error:
        logged = [entry.message for entry in transform.error_log if not entry.message.startswith("runtime error")]
        raise ValueError(f"the stylesheet failed: {(logged or [str(error)])[0][:300]}") from error


# Functions for stylesheets

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*([Zz]|[+-]\d\d:?\d\d)?)?")


def _to_schema_date(_context: object, written: str) -> str:
    """Return a date of RFC 822 or ISO 8601 as xsd:dateTime, or as xsd:date if it has no time; "" if it is invalid."""
    written = written.strip()[:64]
    try:
        if match := _ISO.fullmatch(written):
            year, month, day, hour, minute, second, zone = match.groups()
            if hour is None:
                return date.fromisoformat(written).isoformat()
            clock = f"{hour}:{minute}:{second or '00'}"
            zone = (zone or "").upper()
            zone = f"{zone[:3]}:{zone[-2:]}" if len(zone) > 1 else zone
            found = datetime.fromisoformat(f"{year}-{month}-{day}T{clock}{zone}")
        else:
            found = parsedate_to_datetime(written)
    except (TypeError, ValueError, IndexError, OverflowError):
        return ""
    text = found.isoformat(timespec="seconds")
    return f"{text[:-6]}Z" if found.utcoffset() == timedelta(0) else text


# The sandbox process

_compile_cached = lru_cache(maxsize=32)(compile_sheet)


def _run_job(sheet: bytes, body: bytes, base: str, most: int) -> tuple[bytes, bytes, list[Fault]]:
    """Return the kind of reply, the output or the reason of the failure, and the errors in the document."""
    faults: list[Fault] = []
    try:
        transform = _compile_cached(sheet)
        root, faults = read_xml(body, base)
        if root is None:
            raise ValueError("the document is not XML")
        kind, output = apply_sheet(transform, root, base)
    except (ValueError, MemoryError) as error:
        return FAILED, (str(error) or "out of memory").encode(), faults
    if len(output) > most:
        return FAILED, f"the stylesheet made {len(output)} bytes, more than the limit".encode(), faults
    return kind, output, faults


def _confine() -> None:
    """Set resource limits that prevent this process from opening files and sockets and from using much memory."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))


def _limit_cpu_time(seconds: float) -> None:
    """Limit the processor time for the next job. The kernel then ends this process even if its parent is dead."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def serve() -> None:
    """Read jobs from standard input until it ends; write a reply to each to standard output."""
    jobs, replies = sys.stdin.buffer, sys.stdout.buffer
    _confine()
    while (limits := read_frame(jobs)) is not None:
        seconds, most = LIMITS.unpack(limits)
        _limit_cpu_time(seconds)
        sheet, body, base = (read_frame(jobs) or b"" for _ in range(3))
        kind, output, faults = _run_job(sheet, body, base.decode(), most)
        write_frame(replies, kind, output)
        write_frame(replies, json.dumps(faults).encode())
