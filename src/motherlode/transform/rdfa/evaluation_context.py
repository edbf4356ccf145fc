"""Names without a colon, as XML has them (Namespaces in XML 1.0, section 3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

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
