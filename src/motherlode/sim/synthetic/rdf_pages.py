"""The page models of RDF documents: their subjects and the URLs in their statements."""

from __future__ import annotations

from motherlode.model import ContentKind, Link, LinkSource
from motherlode.model.terms import RDF_TYPE
from motherlode.sim.synthetic.entities import DCTERMS, FOAF, OWL, RDFS, TYPES, Edge, RdfDocument
from motherlode.sim.synthetic.entity_kinds import person
from motherlode.sim.synthetic.host_profiles import Shape, Voice
from motherlode.sim.synthetic.page_model import LinkPosition, PageModel, Role
from motherlode.sim.synthetic.population import World
from motherlode.sim.synthetic.random_draws import mix
from motherlode.sim.synthetic.site import Site, SitePart
from motherlode.www.media_types import MEDIA

_LIES = {
    ContentKind.TURTLE: ("text/plain", "text/plain; charset=utf-8"),
    ContentKind.N_TRIPLES: ("text/plain", "application/octet-stream"),
    ContentKind.RDF_XML: ("text/xml", "application/octet-stream"),
}
_BYTES_PER_STATEMENT = 90


def data_model(site: Site, world: World, part: SitePart, item: int, *, url: str, kind: ContentKind) -> PageModel:
    """Return the RDF document about an item, at its own URL or at the item's."""
    bits = part.bits(item)
    document = _document(site, world, part, item, bits)
    media_type = MEDIA[kind].media_types[0]
    if site.habit.lies:
        media_type = _LIES[kind][bits % 2]
    count = document.count()
    syntax = MEDIA[kind].syntax
    return PageModel(
        url=url,
        role=Role.DATA,
        kind=kind,
        media_type=media_type,
        counts={syntax: count} if syntax else {},
        types=(FOAF + "Person",) if document.voice is Voice.FRIEND else TYPES[part.kind],
        size=400 + _BYTES_PER_STATEMENT * count,
        latency=site.latency,
        groups=((LinkPosition.INLINE, _mentioned(document)),),
        document=document,
        bits=bits,
    )


def _document(site: Site, world: World, part: SitePart, item: int, bits: int) -> RdfDocument:
    page = part.item_url(item, bits)
    if part.section.voice is Voice.FRIEND:
        subject = f"{part.data_url(item)}#me"
        edges = (Edge(predicate=FOAF + "homepage", target=page), *_friends(site, world, part, item, bits))
    elif part.shape is Shape.ENTITY:
        subject = part.entry_url(item, bits)
        edges = (Edge(predicate=FOAF + "isPrimaryTopicOf", target=page), *_relations(site, world, part, item, bits))
    else:
        subject = f"{page}#this"
        edges = _relations(site, world, part, item, bits)
    return RdfDocument(voice=part.section.voice, subject=subject, kind=part.kind, bits=bits, edges=edges)


def _neighbours(part: SitePart, item: int, bits: int, *, most: int) -> list[int]:
    """Return related items of the same section: the next one, so that all are reachable, and some at random."""
    numbers = [(item + 1) % part.items, *((bits >> (9 * turn)) % part.items for turn in range(1 + bits % most))]
    return [number for number in dict.fromkeys(numbers) if number != item]


def _friends(site: Site, world: World, part: SitePart, item: int, bits: int) -> tuple[Edge, ...]:
    """Return friends on the same host and often one on another host, each with the URL of their document."""
    known = {part.data_url(number): part.bits(number) for number in _neighbours(part, item, bits, most=4)}
    if bits % 2:
        other = world.kin(site, mix(bits, 21))
        far = other.parts[0] if other.parts else part
        number = (bits >> 13) % far.items
        known[far.data_url(number)] = far.bits(number)
    known.pop(part.data_url(item), None)
    return tuple(Edge(predicate=RDFS + "seeAlso", target=url, label=person(theirs)) for url, theirs in known.items())


def _relations(site: Site, world: World, part: SitePart, item: int, bits: int) -> tuple[Edge, ...]:
    edges = [
        Edge(predicate=DCTERMS + "relation", target=part.entry_url(number, part.bits(number)))
        for number in _neighbours(part, item, bits, most=3)
    ]
    if bits % 2:
        other = world.kin(site, mix(bits, 22))
        if other.parts and other is not site:
            far = other.parts[0]
            number = (bits >> 13) % far.items
            edges.append(Edge(predicate=OWL + "sameAs", target=far.entry_url(number, far.bits(number))))
    return tuple(edges)


def _mentioned(document: RdfDocument) -> tuple[Link, ...]:
    """Return the links that the statements contain: objects with their predicate, and the subject."""
    subject = document.subject.partition("#")[0]
    found = {subject: Link(url=subject, source=LinkSource.TRIPLE, predicate=RDF_TYPE[1:-1])}
    for edge in document.edges:
        if edge.target not in found:
            found[edge.target] = Link(url=edge.target, source=LinkSource.TRIPLE, predicate=edge.predicate)
    return tuple(found.values())
