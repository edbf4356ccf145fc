"""Write the facts of schema.org that the package uses: classes with parents, properties with domains and ranges.

python tools/make_schema_org.py ../shared/vocabularies/schemaorg-all-https-30.0.ttl

Names and relations are taken, no texts. The result is src/motherlode/quality/schema_org.json.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import pyoxigraph as ox

OUTPUT = Path(__file__).parents[1] / "src" / "motherlode" / "quality" / "schema_org.json"
SCHEMA = "https://schema.org/"
RDF, RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"


def main(source: Path) -> None:
    facts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for quad in ox.parse(path=str(source), format=ox.RdfFormat.TURTLE):
        if str(quad.subject).startswith(f"<{SCHEMA}") and isinstance(quad.object, ox.NamedNode):
            facts[quad.subject.value.removeprefix(SCHEMA)][quad.predicate.value].add(quad.object.value)
    classes, properties, members = {}, {}, {}
    for name, said in sorted(facts.items()):
        types = said[RDF + "type"]
        if RDFS + "Class" in types:
            classes[name] = _names(said[RDFS + "subClassOf"])
        elif RDF + "Property" in types:
            properties[name] = {
                "domains": _names(said[SCHEMA + "domainIncludes"]),
                "ranges": _names(said[SCHEMA + "rangeIncludes"]),
            }
        elif types:
            members[name] = _names(types)
    superseded = {n: _names(s[SCHEMA + "supersededBy"]) for n, s in sorted(facts.items()) if s[SCHEMA + "supersededBy"]}
    data = {
        "release": "30.0",
        "classes": classes,
        "members": members,
        "properties": properties,
        "superseded": superseded,
    }
    OUTPUT.write_text(json.dumps(data, separators=(",", ":")).replace("},", "},\n") + "\n", encoding="utf-8")
    print(
        len(classes),
        "classes",
        len(properties),
        "properties",
        len(superseded),
        "superseded names",
        OUTPUT.stat().st_size,
    )


def _names(iris: set[str]) -> list[str]:
    return sorted(iri.removeprefix(SCHEMA) for iri in iris if iri.startswith(SCHEMA))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
