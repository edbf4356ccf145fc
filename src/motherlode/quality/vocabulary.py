"""Facts of schema.org: classes with their parents, properties with domains and ranges, and superseded names.

`tools/make_schema_org.py` writes `schema_org.json` from a release of the vocabulary.
"""

from collections import defaultdict
from functools import cache
from pathlib import Path

import msgspec
from rapidfuzz import process

NAMESPACES = ("http://schema.org/", "https://schema.org/")


class PropertyFacts(msgspec.Struct, frozen=True):
    """Classes that a property is for, and classes of its values."""

    domains: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()


class SchemaOrg(msgspec.Struct, frozen=True):
    """One release of schema.org, by names without namespace."""

    release: str
    classes: dict[str, tuple[str, ...]]
    """Class → its parents."""
    members: dict[str, tuple[str, ...]]
    """Member of an enumeration → its classes."""
    properties: dict[str, PropertyFacts]
    superseded: dict[str, tuple[str, ...]]
    """Name of an earlier release → the names that replace it."""

    def subclasses(self, name: str) -> set[str]:
        """Return a class and all classes below it."""
        found, waiting = {name}, [name]
        children = _children()
        while waiting:
            new = children.get(waiting.pop(), set()) - found
            found |= new
            waiting.extend(new)
        return found

    def ancestors(self, name: str) -> set[str]:
        """Return a class and all classes above it."""
        found, waiting = {name}, [name]
        while waiting:
            new = set(self.classes.get(waiting.pop(), ())) - found
            found |= new
            waiting.extend(new)
        return found

    def nearest_class(self, name: str) -> str:
        """Return the class with the most similar name, or "" if none is similar."""
        return _nearest(name, self.classes)

    def nearest_property(self, name: str) -> str:
        """Return the property with the most similar name, or "" if none is similar."""
        return _nearest(name, self.properties)


_MIN_SIMILARITY = 70


def _nearest(name: str, known: "dict[str, tuple[str, ...]] | dict[str, PropertyFacts]") -> str:
    by_lower = {candidate.lower(): candidate for candidate in known}
    if name.lower() in by_lower:
        return by_lower[name.lower()]
    found = process.extractOne(name.lower(), by_lower, score_cutoff=_MIN_SIMILARITY)
    return str(found[0]) if found else ""


@cache
def schema_org() -> SchemaOrg:
    """Return the bundled release."""
    return msgspec.json.decode(Path(__file__).with_name("schema_org.json").read_bytes(), type=SchemaOrg)


@cache
def _children() -> dict[str, set[str]]:
    children: defaultdict[str, set[str]] = defaultdict(set)
    for name, parents in schema_org().classes.items():
        for parent in parents:
            children[parent].add(name)
    return children


def local_name(iri: str) -> str:
    """Return the name of an IRI of schema.org, or "" for other IRIs.

    >>> local_name("http://schema.org/name"), local_name("https://schema.org/Product"), local_name("http://a.example/x")
    ('name', 'Product', '')
    """
    for namespace in NAMESPACES:
        if iri.startswith(namespace):
            return iri.removeprefix(namespace)
    return ""


def type_iris(iri: str) -> list[str]:
    """Return the IRIs of a type and its subclasses, in both namespaces if it is one of schema.org."""
    name = local_name(iri)
    if not name:
        return [iri]
    return [namespace + found for found in sorted(schema_org().subclasses(name)) for namespace in NAMESPACES]
