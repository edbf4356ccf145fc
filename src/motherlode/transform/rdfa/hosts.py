"""Host languages: what each adds to RDFa Core 1.1, and the initial context that all share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

XHV = "http://www.w3.org/1999/xhtml/vocab#"
_INITIAL = json.loads(Path(__file__).with_name("initial.json").read_bytes())

PREFIXES: Mapping[str, str] = MappingProxyType(_INITIAL["prefixes"])
"""The initial context http://www.w3.org/2011/rdfa-context/rdfa-1.1. OpenGraph's `og` is among them."""
TERMS: Mapping[str, str] = MappingProxyType(_INITIAL["terms"])
XHTML_TERMS: Mapping[str, str] = MappingProxyType({**TERMS, **{term: XHV + term for term in _INITIAL["xhtml_terms"]}})
"""With those of http://www.w3.org/2011/rdfa-context/xhtml-rdfa-1.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host language, as far as the processing rules ask."""

    terms: Mapping[str, str]
    is_html: bool = False
    """Head and body take the subject of their parent; `lang` counts beside `xml:lang`."""
    is_html5: bool = False
    """The extensions of HTML+RDFa 1.1, section 3.1: muted relations, times, property copying."""
    has_xml_base: bool = False


HTML = Host(terms=TERMS, is_html=True, is_html5=True)
XHTML5 = Host(terms=TERMS, is_html=True, is_html5=True, has_xml_base=True)
XHTML1 = Host(terms=XHTML_TERMS, is_html=True)
XML = Host(terms=TERMS, has_xml_base=True)
