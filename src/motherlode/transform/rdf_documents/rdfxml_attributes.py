"""What mending writes into a document in place of what a parser would refuse, and what becomes of it in statements."""

from __future__ import annotations

import re
from typing import Protocol

from motherlode.model import Statement
from motherlode.transform.rdf_documents.rdfxml_input import escaped
from motherlode.transform.rdf_documents.xml_scanner import OpenElements, StartTag
from motherlode.www.iri import check
from motherlode.www.media_types import RDF_NAMESPACE
from motherlode.www.xml_names import is_ncname

NO_MEANING = "urn:x-undeclared-prefix:"
"""Namespace of names that have none. No statement with such a name is given."""
NO_TEXT = "\U000efffe"
"""In place of an entity that nobody declared. XML takes it everywhere, even in names, and no text has it, for it stands
for no character. No statement with it is given."""
NO_LANGUAGE = "x-mended-none"
"""In place of a language tag that is empty, which takes back the language that is around it."""
_NO_LANGUAGE_MARK = f"@{NO_LANGUAGE}"
_RENAMED = "x-mended-"
_RENAMED_IRI = re.compile(rf"#{_RENAMED}([0-9a-f]*)>")


def renamed(identifier: bytes) -> bytes:
    """An XML name in place of an identifier that is none."""
    return (_RENAMED + identifier.hex()).encode()


def restored(statement: Statement) -> Statement | None:
    """A statement of a mended document as it was meant; None where a part of it has no meaning.

    >>> restored(("<http://example.org/#x-mended-3162>", "<urn:p>", "<urn:o>", ""))
    ('<http://example.org/#1b>', '<urn:p>', '<urn:o>', '')
    """
    subject, predicate, obj, graph = statement
    if NO_TEXT in subject or NO_TEXT in predicate or NO_TEXT in obj:
        return None
    if NO_MEANING in predicate or (obj[-1] == ">" and NO_MEANING in obj):
        return None
    if obj.endswith(_NO_LANGUAGE_MARK):
        obj = obj.removesuffix(_NO_LANGUAGE_MARK)
    if _RENAMED in subject or _RENAMED in obj:
        subject, obj = _renamed_back(subject), _renamed_back(obj)
    return subject, predicate, obj, graph


def _renamed_back(term: str) -> str:
    if term[0] != "<":
        return term
    renamed_back = _RENAMED_IRI.sub(lambda match: f"#{bytes.fromhex(match[1]).decode(errors='replace')}>", term)
    return check(renamed_back[1:-1]).term


# ── Attributes of RDF/XML as they should have been, and what the parser takes in no other way.

_MOST_UNDECLARED = 100
"""Prefixes that nobody declared."""
_UNQUALIFIED = frozenset({b"ID", b"about", b"parseType", b"resource", b"type"})
"""Attributes of RDF that may do without a namespace (RDF 1.1 XML Syntax, section 6.1.4)."""
LITERAL = b"Literal"
PARSE_TYPES = frozenset({LITERAL, b"Resource", b"Collection", b"Triple"})
"""All others mean a literal (section 7.2.20); the parser would pass over them. Triples are new in RDF 1.2."""
_OWN_PREFIX = b"x-mended-rdf"
_FRAGMENT = re.compile(r'[^\x00-\x20<>"{}|^`\\#%&\ufffd]+')
"""What may follow the # of an IRI: an identifier is a name, and no reference to be repaired."""
_REFERENCES = (b"about", b"resource", b"datatype")
_LOCALE = re.compile(rb"[A-Za-z]{1,8}(?:_[A-Za-z0-9]{1,8})+")
"""A locale, which is a language tag but for its underscores."""

Attribute = tuple[bytes, bytes]


class Tell(Protocol):
    """Takes down a problem; `once` is for what a whole document may be full of."""

    def __call__(self, message: str, *, repaired: bool = False, once: bool = False) -> None: ...


class AttributeMender:
    """Mends the attributes of start tags whose element is the innermost one that is open."""

    def __init__(self, elements: OpenElements, tell: Tell) -> None:
        self._open = elements
        self._tell = tell
        self._undeclared: set[bytes] = set()

    def repaired(self, tag: StartTag) -> list[Attribute]:
        """What the attributes of a tag that is in no XML literal should have been."""
        found = [one for name, value in tag.attributes for one in self._attribute(tag, name, value)]
        for prefix in self._without_namespace(tag):
            shown = (
                f"the prefix {prefix.decode(errors='replace')}:" if prefix else "the namespace of names without prefix"
            )
            self._tell(f"{shown} is not declared; what is said with it was left out")
            namespace = f"{NO_MEANING}{prefix.hex()}:"
            self._undeclared.add(prefix)
            self._open.declare(prefix, namespace)
            found.append((b"xmlns:" + prefix if prefix else b"xmlns", namespace.encode()))
        return found

    def _attribute(self, tag: StartTag, name: bytes, value: bytes) -> list[Attribute]:
        added = []
        if b":" not in name and name != b"xmlns":
            shown = name.decode(errors="replace")
            prefix = self._open.rdf_prefix()
            if name not in _UNQUALIFIED or tag.value(prefix + b":" + name) is not None:
                self._tell(f"the attribute {shown} has no namespace; it was left out")
                return []
            if not prefix:
                prefix = _OWN_PREFIX
                self._open.declare(prefix, RDF_NAMESPACE)
                added.append((b"xmlns:" + prefix, RDF_NAMESPACE.encode()))
            self._tell(f"the attribute {shown} was read as rdf:{shown}", repaired=True, once=True)
            name = prefix + b":" + name
        if name == b"xml:lang" and not value and len(self._open) == 1:
            return []  # around the root there is no language that it could take back
        return [*added, (name, self._value(name, value))]

    def _value(self, name: bytes, value: bytes) -> bytes:
        if name == b"xml:lang":
            return self._language(value)
        if name == b"xml:base":
            return escaped(self._open.base).encode()  # it may be relative to the one around it
        if self._open.is_rdf(name, b"ID") or self._open.is_rdf(name, b"nodeID"):
            return self._identifier(name, value)
        if value[:1].isspace() and any(self._open.is_rdf(name, one) for one in _REFERENCES):
            self._tell("white space before an IRI was left out", repaired=True, once=True)
            return value.lstrip()
        if self._open.is_rdf(name, b"parseType") and value not in PARSE_TYPES:
            return LITERAL
        return value

    def _language(self, value: bytes) -> bytes:
        if not value:
            return NO_LANGUAGE.encode()
        if not _LOCALE.fullmatch(value):
            return value
        self._tell(f"xml:lang={value.decode()!r} should have hyphens", repaired=True, once=True)
        return value.replace(b"_", b"-")

    def _identifier(self, name: bytes, value: bytes) -> bytes:
        text = value.decode(errors="replace")
        if is_ncname(text) or not _FRAGMENT.fullmatch(text):
            return value
        self._tell(f"{name.decode(errors='replace')}={text[:100]!r} is no XML name", repaired=True)
        return renamed(value)

    def _without_namespace(self, tag: StartTag) -> list[bytes]:
        """The prefixes of a tag that nobody declared. Where there are many, it is no mistake that we could mend."""
        prefixes = dict.fromkeys(name.rpartition(b":")[0] for name, _ in tag.attributes if b":" in name)
        prefixes[tag.name.rpartition(b":")[0]] = None
        missing = [one for one in prefixes if one != b"xmlns" and not self._open.namespace(one)]
        return missing if len(self._undeclared) < _MOST_UNDECLARED else []
