"""Challenge and block pages: which product sent a page instead of the requested one.

A product is recognised by a header that only its challenges have, or by elements of its page. Elements are searched in
the HTML tree, so that an article that quotes a signature in its text or in a code block is no challenge. The signatures
are from the documentation of the products and, for Anubis, from its source (read in November 2026). Challenges are
recorded and never solved.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import msgspec

from motherlode.model import ChallengeProduct
from motherlode.www.media_types import essence

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_CHALLENGE_BYTES = 1 << 16
"""Maximum length of a challenge or block page of a failure. Those of the known products have 0.4 to 40 kB."""
_MAX_PAGE_BYTES = 1 << 15
"""Maximum length of a challenge page with a status of success. It is lower, because every page up to it is searched."""
_MAX_TEXT_CHARACTERS = 4000
"""Visible characters of a challenge page. That of Anubis has the longest explanation, about 2,500."""
_MAX_GENERIC_CHARACTERS = 800
_MAX_GENERIC_LINKS = 5
_MAX_TITLE_OFFSET = 4096
_MIN_FAILURE_STATUS = 400
_HTML_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
_JSON_TYPE = "application/json"
_MARKUP_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_QUOTING_ELEMENTS = frozenset({"pre", "code", "textarea", "samp", "xmp"})
_ASSIGNED = r"\A(?:[^\"'`]|'[^'\n]*'|\"[^\"\n]*\")*?"
"""The start of a script up to a statement that is not within a string."""


# Headers -------------------------------------------------------------------------------------------------------------

_BY_HEADER: dict[str, tuple[ChallengeProduct, re.Pattern[str], int]] = {
    "cf-mitigated": (ChallengeProduct.CLOUDFLARE, re.compile(r"challenge", re.IGNORECASE), 0),
    "x-dd-b": (ChallengeProduct.DATADOME, re.compile(r".+"), _MIN_FAILURE_STATUS),
    "x-amzn-waf-action": (ChallengeProduct.AWS_WAF, re.compile(r"challenge|captcha", re.IGNORECASE), 0),
    "x-vercel-mitigated": (ChallengeProduct.VERCEL, re.compile(r"challenge|deny", re.IGNORECASE), 0),
}
"""Header → the product, the values that mean a challenge or a block, and the lowest status of such a response."""


def _find_by_header(status: int, headers: Mapping[str, str]) -> ChallengeProduct | None:
    for name, (product, values, lowest) in _BY_HEADER.items():
        if name in headers and status >= lowest and values.fullmatch(headers[name].strip()):
            return product
    return None


# Elements ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signature:
    """The parts of a page of a product. All parts that are given must be found."""

    product: ChallengeProduct
    marker: bytes
    """Bytes without which the signature is impossible, so that the body need not be parsed."""
    selectors: tuple[str, ...] = ()
    """CSS selectors. An element of each must be in the page."""
    script: re.Pattern[str] | None = None
    """Pattern that must be found in an inline script that is code and not data."""
    title: re.Pattern[str] | None = None
    text: re.Pattern[str] | None = None
    """Pattern that must be found in the visible text."""


_RESOURCE = '[src*="/.within.website/x/"], [href*="/.within.website/x/"]'
_CLOUDFLARE_TITLE = re.compile(
    r"Attention Required! \| Cloudflare|Access denied \| .* used Cloudflare to restrict access"
)
_CF, _AKAMAI, _PX = ChallengeProduct.CLOUDFLARE, ChallengeProduct.AKAMAI, ChallengeProduct.PERIMETERX
_SIGNATURES = (
    _Signature(product=_CF, marker=b"_cf_chl_", script=re.compile(_ASSIGNED + r"window\._cf_chl_opt\s*=")),
    _Signature(product=_CF, marker=b"_cf_chl_", selectors=('form[action*="__cf_chl_"]',)),
    _Signature(
        product=_CF,
        marker=b"/cdn-cgi/challenge-platform/",
        selectors=('script[src*="/cdn-cgi/challenge-platform/"][src*="/orchestrate/"]',),
    ),
    _Signature(product=_CF, marker=b"cf-error-details", selectors=("#cf-error-details",), title=_CLOUDFLARE_TITLE),
    _Signature(product=_AKAMAI, marker=b"sec-if-cpt-container", selectors=("#sec-if-cpt-container",)),
    _Signature(product=_AKAMAI, marker=b"/_sec/cp_challenge/", selectors=('script[src*="/_sec/cp_challenge/"]',)),
    _Signature(
        product=_AKAMAI, marker=b"bm-verify=", selectors=('meta[http-equiv="refresh" i][content*="bm-verify="]',)
    ),
    _Signature(
        product=_AKAMAI,
        marker=b">Access Denied<",
        title=re.compile(r"Access Denied"),
        text=re.compile(r"permission to access .{0,2000}Reference\s#[0-9]+\.[0-9a-f]+\.[0-9]+\.[0-9a-f]+", re.DOTALL),
    ),
    _Signature(
        product=ChallengeProduct.DATADOME,
        marker=b"captcha",
        selectors=('script[src*=".captcha-delivery.com/"], iframe[src*=".captcha-delivery.com/"]',),
    ),
    _Signature(product=_PX, marker=b"_pxUuid", script=re.compile(_ASSIGNED + r"window\._pxUuid\s*=")),
    _Signature(
        product=_PX,
        marker=b"captcha",
        selectors=("#px-captcha",),
        title=re.compile(r"Access to this page has been denied.*", re.IGNORECASE),
    ),
    _Signature(product=ChallengeProduct.ANUBIS, marker=b"anubis_", selectors=("script#anubis_challenge",)),
    _Signature(product=ChallengeProduct.ANUBIS, marker=b"anubis_", selectors=("script#anubis_version", _RESOURCE)),
)
_MARKERS = tuple(dict.fromkeys(signature.marker for signature in _SIGNATURES))
_GENERIC_PHRASES = (
    r"(?:just a moment|one (?:more step|moment,? please)|attention required"
    r"|pardon our interruption|checking (?:your browser|if the site connection)|ddos[- ](?:protection|guard)"
    r"|(?:robot|bot|human|captcha|browser) (?:check|verification|challenge)|captcha\b"
    r"|(?:vercel )?security (?:check|verification)|are you (?:an? )?(?:human|robot|bot)\b|making sure you"
    r"|(?:please )?verify(?:ing)? (?:that )?you[^<]{0,40}\b(?:human|robot|browser))"
)
_GENERIC_TITLE = re.compile(_GENERIC_PHRASES, re.IGNORECASE)
_GENERIC_MARKER = re.compile(rb"<title[^>]{0,200}>\s*+" + _GENERIC_PHRASES.encode(), re.IGNORECASE)
_GENERIC_ELEMENTS = ", ".join(
    (
        *(".g-recaptcha", ".h-captcha", ".cf-turnstile", '[id*="captcha" i]', '[id*="challenge" i]'),
        *('form[action*="captcha" i]', 'form[action*="challenge" i]', 'iframe[src*="captcha" i]'),
        *('script[src*="captcha" i]', 'script[src*="challenge" i]', '[src*="_Incapsula_Resource"]'),
    )
)
_ENABLE_SCRIPTS = re.compile(
    r"(?:enable|turn on) (?:java ?script|cookies)|javascript (?:is required|must be)", re.IGNORECASE
)


_MAX_PLAIN_SEARCHES = 20
"""Bodies that a process searches without Vectorscan. Loading it takes 16 ms, and it saves 3 µs per kilobyte (two loaded
cores, 2026-11-18). So commands that fetch a few pages do not load it."""
_plain_searches = itertools.count()


class _MarkerScanner(threading.local):
    """All markers as one pattern of Vectorscan, with a scratch space per thread."""

    def __init__(self) -> None:
        import hyperscan  # at its first use, see `_MAX_PLAIN_SEARCHES`

        self.database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        numbers, flags = list(range(len(_MARKERS))), [hyperscan.HS_FLAG_SINGLEMATCH] * len(_MARKERS)
        self.database.compile(expressions=_MARKERS, ids=numbers, elements=len(_MARKERS), flags=flags, literal=True)
        self.scratch = hyperscan.Scratch(self.database)


@cache
def _scanner() -> _MarkerScanner:
    return _MarkerScanner()


def _find_markers(body: bytes) -> list[bytes]:
    """Return the markers in a body. One scan for all takes about as long as a plain search for one."""
    if next(_plain_searches) < _MAX_PLAIN_SEARCHES:
        return [marker for marker in _MARKERS if marker in body]
    return _scan(body)


def _scan(body: bytes) -> list[bytes]:
    scanner, found = _scanner(), list[bytes]()

    def record(index: int, _start: int, _end: int, _flags: int, _context: object) -> None:
        found.append(_MARKERS[index])

    scanner.database.scan(body, match_event_handler=record, scratch=scanner.scratch)
    return found


def _has_generic_title(body: bytes) -> bool:
    start = body.find(b"<title", 0, _MAX_TITLE_OFFSET)
    if start < 0:
        start = body.find(b"<TITLE", 0, _MAX_TITLE_OFFSET)
    return start >= 0 and _GENERIC_MARKER.match(body, start) is not None


class _ChallengePage:
    """The HTML tree of a page that may be a challenge."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._tree = _parse(body)
        title = self._tree.css_first("title")
        self._title = "" if title is None else " ".join(title.text().split())
        self._scripts = [node.text() for node in self._tree.css("script") if _is_code(node)]
        self._noscript = " ".join(node.text() for node in self._tree.css("noscript"))

    def has(self, signature: _Signature) -> bool:
        """Return whether all parts of the signature are in the page."""
        title, script, text = signature.title, signature.script, signature.text
        return (
            len(self._text) <= _MAX_TEXT_CHARACTERS
            and all(map(self._has_element, signature.selectors))
            and (title is None or title.fullmatch(self._title) is not None)
            and (script is None or any(script.search(code) for code in self._scripts))
            and (text is None or text.search(self._text) is not None)
        )

    @property
    def is_generic(self) -> bool:
        """Whether the title asks for patience or proof, and the page has a test of its visitors and hardly any text."""
        if not _GENERIC_TITLE.match(self._title):
            return False
        if len(self._text) > _MAX_GENERIC_CHARACTERS or len(self._tree.css("a[href]")) > _MAX_GENERIC_LINKS:
            return False
        wants_scripts = _ENABLE_SCRIPTS.search(self._noscript) or _ENABLE_SCRIPTS.search(self._text)
        return wants_scripts is not None or self._has_element(_GENERIC_ELEMENTS)

    def _has_element(self, selector: str) -> bool:
        return any(not _is_quoted(node) for node in self._tree.css(selector))

    @cached_property
    def _text(self) -> str:
        """The visible text, with single spaces."""
        body = _parse(self._body).body  # a tree of its own, because the elements that are removed are searched, too
        if body is None:
            return ""
        for node in body.css("script, style, noscript, template"):
            node.decompose()
        return " ".join(body.text(separator=" ").split())


def _parse(body: bytes) -> LexborHTMLParser:
    from selectolax.lexbor import LexborHTMLParser  # few bodies have a marker, so most processes never need them

    from motherlode.www.html_limits import guarded

    return LexborHTMLParser(guarded(body)[0])


def _is_code(script: LexborNode) -> bool:
    """Return whether a script is run, and not data such as JSON-LD or the state of an application."""
    kind = (script.attributes.get("type") or "").strip().lower()
    return (not kind or kind == "module" or kind.endswith("javascript")) and not _is_quoted(script)


def _is_quoted(node: LexborNode) -> bool:
    """Return whether an element is part of an example, for instance of unescaped markup in a code block."""
    parent = node.parent
    while parent is not None:
        if parent.tag in _QUOTING_ELEMENTS:
            return True
        parent = parent.parent
    return False


# Responses -----------------------------------------------------------------------------------------------------------


def may_be_challenge(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether the body of a failure is needed to decide if it is a challenge or block page.

    >>> may_be_challenge(403, {"content-type": "text/html"}), may_be_challenge(403, {"content-type": "image/png"})
    (True, False)
    """
    media_type, length = essence(headers.get("content-type", "")), headers.get("content-length", "")
    is_short = not (length.isdecimal() and len(length) < 20) or 0 < int(length) <= MAX_CHALLENGE_BYTES
    is_possible = bool(media_type) and (media_type in _HTML_TYPES or media_type == _JSON_TYPE)
    return status >= _MIN_FAILURE_STATUS and is_short and is_possible


def find_challenge(status: int, headers: Mapping[str, str], body: bytes) -> ChallengeProduct | None:
    """Return the product whose challenge or block page a response is, or None for any other response.

    `body` is the decoded body, whole if it has at most MAX_CHALLENGE_BYTES. A page of 10 kB without a marker takes
    about 3 µs, and one that is too long for a challenge 1 µs (two loaded cores, 2026-11-18).

    >>> find_challenge(429, {"cf-mitigated": "challenge"}, b"")
    <ChallengeProduct.CLOUDFLARE: 'cloudflare'>
    >>> find_challenge(403, {"content-type": "text/html"}, b"<title>403 Forbidden</title>")
    """
    product = _find_by_header(status, headers)
    max_bytes = MAX_CHALLENGE_BYTES if status >= _MIN_FAILURE_STATUS else _MAX_PAGE_BYTES
    if product is not None or not 0 < len(body) <= max_bytes:
        return product
    media_type = essence(headers.get("content-type", ""))
    if media_type == _JSON_TYPE:
        return _find_in_json(body) if status >= _MIN_FAILURE_STATUS else None
    if media_type not in _HTML_TYPES:
        return None
    markers = _find_markers(body)
    may_be_generic = _has_generic_title(body)
    return _find_in_html(body, markers, may_be_generic=may_be_generic) if markers or may_be_generic else None


def _find_in_html(body: bytes, markers: list[bytes], *, may_be_generic: bool) -> ChallengeProduct | None:
    if not _MARKUP_START.match(body):
        return None
    page = _ChallengePage(body)
    for signature in _SIGNATURES:
        if signature.marker in markers and page.has(signature):
            return signature.product
    return ChallengeProduct.GENERIC if may_be_generic and page.is_generic else None


def _find_in_json(body: bytes) -> ChallengeProduct | None:
    """Return the product whose block of a request for data a JSON document is, or None."""
    if b"captcha-delivery.com/" not in body and b"blockScript" not in body:
        return None
    try:
        found = msgspec.json.decode(body, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if str(found.get("url", "")).startswith("https://geo.captcha-delivery.com/"):
        return ChallengeProduct.DATADOME
    return _PX if str(found.get("appId", "")).startswith("PX") and "blockScript" in found else None
