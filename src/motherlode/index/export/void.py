"""Export a description of the data set in VoID (https://www.w3.org/TR/void/), with its runs and software in PROV-O.

The union is sorted by subject, so that counting distinct subjects in one pass needs no memory.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import BinaryIO

import pyoxigraph as ox

from motherlode.index.export.streams import CountedQuads, Progress, ignore_progress
from motherlode.index.page_record import DATASET, PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES, RDF, XSD

_MAX_PARTITIONS = 1_000
"""Maximum number of described classes, and of described properties. A large crawl has a hundred thousand of them."""
_MAX_NAMES = 200_000
"""Maximum number of names in a counter. Beyond it, the rarer half is dropped."""
_TYPE = ox.NamedNode(RDF + "type")
_DATASET = ox.NamedNode(DATASET)


def _name(prefixed: str) -> ox.NamedNode:
    prefix, _, local = prefixed.partition(":")
    return ox.NamedNode(PREFIXES[prefix] + local)


@dataclass(slots=True, kw_only=True)
class Statistics:
    """The statistics of a VoID description."""

    triples: int = 0
    subjects: int = 0
    documents: int = 0
    first: str = ""
    last: str = ""
    """`first` and `last` are the fetch times of the oldest and of the newest page."""
    classes: Counter[str] = field(default_factory=Counter)
    properties: Counter[str] = field(default_factory=Counter)
    syntaxes: Counter[str] = field(default_factory=Counter)


def count_statistics(store: QuadStore, progress: Progress = ignore_progress) -> Statistics:
    found = Statistics()
    quads = CountedQuads(store.statements(), progress)
    for _, group in groupby(quads, key=lambda quad: quad.subject):
        found.subjects += 1
        for quad in group:
            found.properties[quad.predicate.value] += 1
            if quad.predicate == _TYPE and isinstance(quad.object, ox.NamedNode):
                found.classes[quad.object.value] += 1
        for names in (found.properties, found.classes):
            if len(names) > _MAX_NAMES:
                frequent = dict(names.most_common(_MAX_NAMES // 2))
                names.clear()
                names.update(frequent)
    found.triples = quads.count
    _count_pages(store, found)
    return found


def _count_pages(store: QuadStore, found: Statistics) -> None:
    syntax, generated, kind = _name("ml:syntax"), _name("prov:generatedAtTime"), _name("ml:kind")
    for quad in store.match(graph=f"<{PROVENANCE}>"):
        if not isinstance(quad.object, ox.Literal):
            continue
        if quad.predicate == syntax:
            found.syntaxes[quad.object.value] += 1
        elif quad.predicate == kind:  # redirects and deleted pages have none
            found.documents += 1
        elif quad.predicate == generated:
            when = quad.object.value
            found.first = min(found.first or when, when)
            found.last = max(found.last, when)


def export_void(store: QuadStore, output: BinaryIO, progress: Progress = ignore_progress) -> int:
    """Write the description as Turtle. Return its number of statements."""
    triples = CountedQuads(describe(store, count_statistics(store, progress)))  # type: ignore[arg-type]
    ox.serialize(triples, output, format=ox.RdfFormat.TURTLE, prefixes=PREFIXES)
    return triples.count


def describe(store: QuadStore, found: Statistics) -> list[ox.Triple]:
    """Return the description: statistics, class and property partitions, and the runs that generated the data."""
    rows: list[tuple[ox.NamedNode, ox.NamedNode | ox.BlankNode | ox.Literal]] = [
        (_TYPE, _name("void:Dataset")),
        (_name("dcterms:title"), ox.Literal("What a crawl by Motherlode found", language="en")),
        (_name("void:triples"), ox.Literal(found.triples)),
        (_name("void:documents"), ox.Literal(found.documents)),
        (_name("void:distinctSubjects"), ox.Literal(found.subjects)),
        (_name("void:classes"), ox.Literal(len(found.classes))),
        (_name("void:properties"), ox.Literal(len(found.properties))),
    ]
    for name, when in (("created", found.first), ("modified", found.last)):
        if when:
            rows.append((_name(f"dcterms:{name}"), ox.Literal(when, datatype=ox.NamedNode(XSD + "dateTime"))))
    rows += [(_name("void:vocabulary"), ox.NamedNode(space)) for space in _vocabularies(found)]
    triples = [ox.Triple(_DATASET, predicate, value) for predicate, value in rows]
    triples += _partitions("class", "entities", found.classes)
    triples += _partitions("property", "triples", found.properties)
    for syntax, pages in found.syntaxes.most_common():
        node = ox.BlankNode(f"syntax-{syntax}")
        triples.append(ox.Triple(_DATASET, _name("void:subset"), node))
        triples.append(ox.Triple(node, _name("ml:syntax"), ox.Literal(syntax)))
        triples.append(ox.Triple(node, _name("void:documents"), ox.Literal(pages)))
    return triples + _runs(store)


def _partitions(kind: str, counted: str, names: Counter[str]) -> list[ox.Triple]:
    triples = []
    for number, (name, count) in enumerate(names.most_common(_MAX_PARTITIONS)):
        node = ox.BlankNode(f"{kind}{number}")
        triples.append(ox.Triple(_DATASET, _name(f"void:{kind}Partition"), node))
        triples.append(ox.Triple(node, _name(f"void:{kind}"), ox.NamedNode(name)))
        triples.append(ox.Triple(node, _name(f"void:{counted}"), ox.Literal(count)))
    return triples


def _vocabularies(found: Statistics) -> list[str]:
    names = [name for counts in (found.properties, found.classes) for name, _ in counts.most_common(100)]
    ends = ((name, max(name.rfind("#"), name.rfind("/"))) for name in names)
    return sorted({name[: end + 1] for name, end in ends if end > len("https://")})


def _runs(store: QuadStore) -> list[ox.Triple]:
    activities = store.match(predicate=f"<{RDF}type>", object_=f"<{PREFIXES['prov']}Activity>", graph=f"<{PROVENANCE}>")
    triples = []
    for activity in activities:
        triples.append(ox.Triple(_DATASET, _name("prov:wasGeneratedBy"), activity.subject))
        triples += [quad.triple for quad in store.match(subject=str(activity.subject), graph=f"<{PROVENANCE}>")]
    return triples
