"""The endpoint described in RDF (SPARQL 1.1 Service Description)."""

from __future__ import annotations

import pyoxigraph as ox

from motherlode.model.prefixes import PREFIXES

_TEXT = """
@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
@prefix formats: <http://www.w3.org/ns/formats/> .
@prefix ml: <%(ml)s> .
[] a sd:Service ;
  sd:endpoint <%(endpoint)s> ;
  sd:supportedLanguage sd:SPARQL11Query ;
  sd:feature sd:UnionDefaultGraph ;
  sd:resultFormat formats:SPARQL_Results_JSON, formats:SPARQL_Results_XML, formats:SPARQL_Results_CSV,
    formats:SPARQL_Results_TSV, formats:Turtle, formats:N-Triples, formats:RDF_XML, formats:JSON-LD ;
  sd:extensionFunction ml:matches, ml:score, ml:node, ml:key ;
  sd:defaultDataset [ a sd:Dataset ; sd:defaultGraph [ a sd:Graph ] ] .
ml:matches a sd:Function . ml:score a sd:Function . ml:node a sd:Function . ml:key a sd:Function .
"""


def described(endpoint: str, media_type: str) -> bytes:
    """The description of the service at this address.

    >>> b"sparql-service-description#Service" in described("http://localhost/sparql", "application/n-triples")
    True
    """
    safe = "".join(character for character in endpoint if character not in '<>"{}|^`\\ ')
    quads = ox.parse((_TEXT % {"endpoint": safe, "ml": PREFIXES["ml"]}).encode(), ox.RdfFormat.TURTLE)
    kind = ox.RdfFormat.from_media_type(media_type) or ox.RdfFormat.TURTLE
    return ox.serialize((quad.triple for quad in quads), format=kind) or b""
