"""XML and XSLT with every way out closed; and, run as a program, the helper process that applies users' stylesheets.

Of this project it imports only `runtime`, so that the helper starts fast and holds little. No entity is expanded, no
DTD is loaded, no file or address is opened: neither by the parser, nor by document(), xsl:include or xsl:import, nor by
the elements that write files. In the helper, the kernel is told the same: no new file descriptors, bounded memory,
bounded processor time.
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

from motherlode.runtime.frames import read_frame, write_frame

FUNCTIONS = "urn:motherlode:functions"
"""Namespace of the functions that stylesheets may call."""
LIMITS = struct.Struct("!dQ")
"""First frame of a job: seconds, and bytes of the result. Stylesheet, document and base URL follow, a frame each."""
RDF_XML, TEXT, FAILED = b"X", b"T", b"F"
"""First byte of the first frame of a response; the result or the reason follows. The second frame is JSON: the faults
in the document."""
_MEMORY = 2 << 30
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_MOST_PROBLEMS = 20

Located = tuple[str, int | None, int | None]
"""A message, a line and a column."""


class _Closed(etree.Resolver):  # type: ignore[misc] # lxml has no types
    """Refuses whatever a document or a stylesheet asks for."""

    def resolve(self, system_url: str | None, _public_id: str | None, _context: object) -> NoReturn:
        raise PermissionError(f"a stylesheet may not load {system_url}")


def _parser(*, lenient: bool) -> Any:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=lenient, remove_pis=True
    )
    parser.resolvers.add(_Closed())
    return parser


def read_xml(body: bytes, base: str) -> tuple[Any, list[Located]]:
    """The root element of a document (None where there is none to be had), and what was wrong with it."""
    parser = _parser(lenient=True)
    try:
        root = etree.fromstring(body.lstrip(b" \t\r\n"), parser, base_url=base)
    except (etree.XMLSyntaxError, ValueError) as error:
        return None, [(str(error), None, None)]
    located = {(entry.line, entry.column): entry.message.strip() for entry in reversed(parser.error_log)}
    problems: list[Located] = [(message, line, column) for (line, column), message in sorted(located.items())]
    if root is not None:
        problems = [*(problem for problem in problems if "Entity '" not in problem[0]), *_replace_entities(root)]
        _make_bases_absolute(root)
        _drop_rss_namespace(root)
    return root, problems[:_MOST_PROBLEMS]


def read_start(body: bytes, base: str) -> Any:
    """The root element of a large document, as far as its first 64 KB tell; None where they do not."""
    parser = etree.XMLPullParser(
        events=("start",), resolve_entities=False, no_network=True, load_dtd=False, recover=True, base_url=base
    )
    try:
        parser.feed(body[:65536].lstrip(b" \t\r\n"))
    except etree.XMLSyntaxError:
        return None
    return next((element for _, element in parser.read_events()), None)


def _replace_entities(root: Any) -> list[Located]:
    """Puts characters for the named entities of HTML, which feeds use freely, and nothing for any other."""
    problems: list[Located] = []
    for entity in list(root.iter(etree.Entity)):
        text = html5.get(f"{entity.name};")
        if text is None:
            problems.append((f"the entity {entity.name[:50]} was left out", entity.sourceline, None))
        parent, before = entity.getparent(), entity.getprevious()
        text = (text or "") + (entity.tail or "")
        if before is not None:
            before.tail = (before.tail or "") + text
        else:
            parent.text = (parent.text or "") + text
        entity.tail = None
        parent.remove(entity)
    return problems


def _make_bases_absolute(root: Any) -> None:
    """A stylesheet can then copy the nearest xml:base and need not know those around it."""
    for element in root.xpath("//*[@xml:base]"):
        element.set(_XML_BASE, element.base or "")


def _drop_rss_namespace(root: Any) -> None:
    """RSS has no namespace; some feeds put all of theirs into one nevertheless."""
    namespace, name = qualified(root)
    if namespace and name == "rss":
        for element in root.iter(f"{{{namespace}}}*"):
            element.tag = element.tag.rpartition("}")[2]


def qualified(element: Any) -> tuple[str, str]:
    """Namespace and local name of an element."""
    name = etree.QName(element)
    return name.namespace or "", name.localname


def compile_sheet(sheet: bytes) -> Any:
    """The transformation that a stylesheet describes; ValueError says what is wrong with it."""
    try:
        return etree.XSLT(
            etree.fromstring(sheet, _parser(lenient=False)),
            access_control=etree.XSLTAccessControl.DENY_ALL,
            extensions={(FUNCTIONS, "date"): _date},
        )
    except (etree.XMLSyntaxError, etree.XSLTParseError, PermissionError) as error:
        raise ValueError(f"not a stylesheet: {error}") from error


def apply_sheet(transform: Any, root: Any, base: str) -> tuple[bytes, bytes]:
    """What a stylesheet makes of a document: RDF_XML or TEXT, and its bytes; ValueError where it fails."""
    try:
        result = transform(root, base=etree.XSLT.strparam(base))
        kind = RDF_XML if result.getroot() is not None else TEXT
        return kind, bytes(result)
    except etree.XSLTError as error:
        logged = [entry.message for entry in transform.error_log if not entry.message.startswith("runtime error")]
        raise ValueError(f"the stylesheet failed: {(logged or [str(error)])[0][:300]}") from error


# Functions for stylesheets --------------------------------------------------------------------------------------------

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*([Zz]|[+-]\d\d:?\d\d)?)?")


def _date(_context: object, written: str) -> str:
    """A date of RFC 822 or ISO 8601 as xsd:dateTime, a day alone as xsd:date, or "".

    >>> _date(None, "Tue, 10 Jun 2003 04:00:00 GMT"), _date(None, "2003-06-10T04:00+02:00")
    ('2003-06-10T04:00:00Z', '2003-06-10T04:00:00+02:00')
    >>> _date(None, "2003-06-10"), _date(None, "2003-06-31"), _date(None, "soon")
    ('2003-06-10', '', '')
    """
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


# The helper process ---------------------------------------------------------------------------------------------------

_compiled = lru_cache(maxsize=32)(compile_sheet)


def _work(sheet: bytes, body: bytes, base: str, most: int) -> tuple[bytes, bytes, list[Located]]:
    faults: list[Located] = []
    try:
        transform = _compiled(sheet)
        root, faults = read_xml(body, base)
        if root is None:
            raise ValueError("there is no XML")
        kind, made = apply_sheet(transform, root, base)
    except (ValueError, MemoryError) as error:
        return FAILED, (str(error) or "out of memory").encode(), faults
    if len(made) > most:
        return FAILED, f"the stylesheet made {len(made)} bytes, more than the limit".encode(), faults
    return kind, made, faults


def _confine() -> None:
    """From here on the process opens nothing, whatever it is made to run."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _allow(seconds: float) -> None:
    """Processor time for one more job: the kernel ends us if whoever started us is no longer there to do it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def serve() -> None:
    """Reads jobs from standard input until it ends; answers each on standard output."""
    jobs, answers = sys.stdin.buffer, sys.stdout.buffer
    _confine()
    while (limits := read_frame(jobs)) is not None:
        seconds, most = LIMITS.unpack(limits)
        _allow(seconds)
        sheet, body, base = (read_frame(jobs) or b"" for _ in range(3))
        kind, made, faults = _work(sheet, body, base.decode(), most)
        write_frame(answers, kind, made)
        write_frame(answers, json.dumps(faults).encode())
