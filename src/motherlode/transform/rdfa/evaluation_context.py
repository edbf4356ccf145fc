"""Names without a colon, as XML has them (Namespaces in XML 1.0, section 3)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_REST = rf"{_START}\-.0-9\u00b7\u0300-\u036f\u203f-\u2040"
_NAME = re.compile(f"[{_START}][{_REST}]*")
_BAD = re.compile(f"^[^{_START}]|[^{_REST}]")


def is_name(text: str) -> bool:
    """Whether a text can be a prefix or a local name.

    >>> is_name("ex"), is_name("1x"), is_name("a:b"), is_name("")
    (True, False, False, False)
    """
    return _NAME.fullmatch(text) is not None


def coerced(text: str) -> str:
    """A name that XML can hold, for one of HTML (HTML, "Coercing an HTML DOM into an infoset").

    >>> coerced("a<b"), coerced("o:p"), coerced("1")
    ('aU00003Cb', 'oU00003Ap', 'U000031')
    """
    return _BAD.sub(lambda character: f"U{ord(character[0]):06X}", text)


# ── Host languages: what each adds to RDFa Core 1.1, and the initial context that all share.

XHV = "http://www.w3.org/1999/xhtml/vocab#"
_INITIAL = json.loads(Path(__file__).with_name("initial.json").read_bytes())

PREFIXES: Mapping[str, str] = MappingProxyType(_INITIAL["prefixes"])
"""The initial context http://www.w3.org/2011/rdfa-context/rdfa-1.1. OpenGraph's `og` is among them."""
TERMS: Mapping[str, str] = MappingProxyType(_INITIAL["terms"])
XHTML_TERMS: Mapping[str, str] = MappingProxyType({**TERMS, **{term: XHV + term for term in _INITIAL["xhtml_terms"]}})
"""With those of http://www.w3.org/2011/rdfa-context/xhtml-rdfa-1.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLanguage:
    """A host language, as far as the processing rules ask."""

    terms: Mapping[str, str]
    is_html: bool = False
    """Head and body take the subject of their parent; `lang` counts beside `xml:lang`."""
    is_html5: bool = False
    """The extensions of HTML+RDFa 1.1, section 3.1: muted relations, times, property copying."""
    has_xml_base: bool = False


HTML = HostLanguage(terms=TERMS, is_html=True, is_html5=True)
XHTML5 = HostLanguage(terms=TERMS, is_html=True, is_html5=True, has_xml_base=True)
XHTML1 = HostLanguage(terms=XHTML_TERMS, is_html=True)
XML = HostLanguage(terms=TERMS, has_xml_base=True)


# ── The evaluation context that travels down the tree (RDFa Core 1.1, section 7.2).


class Lists:
    """The list mapping: collections that grow while one resource is described."""

    __slots__ = ("items", "owner")

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.items: dict[str, list[str]] = {}

    def of(self, predicate: str) -> list[str]:
        return self.items.setdefault(predicate, [])


class Incomplete(msgspec.Struct, frozen=True):
    """A relation that waits for a resource. Just one of the fields is set."""

    forward: str = ""
    backward: str = ""
    collection: list[str] | None = None


class EvaluationContext(msgspec.Struct, kw_only=True):
    """What an element inherits. Treated as frozen: copies are made where something changes."""

    base: str
    subject: str
    """The parent subject."""
    object: str
    """The parent object."""
    lists: Lists
    prefixes: Mapping[str, str]
    language: str = ""
    vocabulary: str = ""
    incomplete: tuple[Incomplete, ...] = ()
    tokens: dict[str, str] = msgspec.field(default_factory=dict)
    """IRIs that terms and CURIEs were found to mean, as long as base, vocabulary and prefixes stay the same."""
    declared: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Namespaces that the document itself declares, for XML literals."""
