"""The evaluation context (RDFa Core 1.1, section 7.2), the host languages and the initial context."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

XHV = "http://www.w3.org/1999/xhtml/vocab#"
_INITIAL = json.loads(Path(__file__).with_name("initial.json").read_bytes())

PREFIXES: Mapping[str, str] = MappingProxyType(_INITIAL["prefixes"])
"""Prefixes of the initial context http://www.w3.org/2011/rdfa-context/rdfa-1.1, including OpenGraph's `og`."""
TERMS: Mapping[str, str] = MappingProxyType(_INITIAL["terms"])
XHTML_TERMS: Mapping[str, str] = MappingProxyType({**TERMS, **{term: XHV + term for term in _INITIAL["xhtml_terms"]}})
"""The terms of RDFa Core and those of http://www.w3.org/2011/rdfa-context/xhtml-rdfa-1.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLanguage:
    """The features of a host language that the processing rules depend on."""

    terms: Mapping[str, str]
    is_html: bool = False
    """True for HTML: `head` and `body` take the subject of their parent, and `lang` counts as well as `xml:lang`."""
    is_html5: bool = False
    """True if the extensions of HTML+RDFa 1.1, section 3.1, apply: ignored relations, times, property copying."""
    has_xml_base: bool = False


HTML = HostLanguage(terms=TERMS, is_html=True, is_html5=True)
XHTML5 = HostLanguage(terms=TERMS, is_html=True, is_html5=True, has_xml_base=True)
XHTML1 = HostLanguage(terms=XHTML_TERMS, is_html=True)
XML = HostLanguage(terms=TERMS, has_xml_base=True)


class ListMapping(msgspec.Struct, frozen=True):
    """The list mapping: the collections of one resource, by predicate."""

    owner: str
    items: defaultdict[str, list[str]] = msgspec.field(default_factory=lambda: defaultdict(list))


class IncompleteTriple(msgspec.Struct, frozen=True):
    """A relation whose object is still unknown. Exactly one of the fields is set."""

    forward: str = ""
    """The predicate of a relation by `rel`."""
    backward: str = ""
    """The predicate of a relation by `rev`."""
    collection: list[str] | None = None
    """The collection to which the object will be appended."""


class EvaluationContext(msgspec.Struct, kw_only=True):
    """The state that an element inherits. It is never changed: an element that changes it makes a copy."""

    base: str
    subject: str
    object: str
    lists: ListMapping
    prefixes: Mapping[str, str]
    language: str = ""
    vocabulary: str = ""
    incomplete: tuple[IncompleteTriple, ...] = ()
    tokens: dict[str, str] = msgspec.field(default_factory=dict)
    """Cache: the IRI of each term and CURIE. Valid while base, vocabulary and prefixes are the same."""
    declared: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Namespaces that the document itself declares, for XML literals."""
