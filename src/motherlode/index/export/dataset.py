"""A folder that can be published as a data set: the quads, a description in VoID and DCAT, Croissant, and a README."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from motherlode.index.export.streams import Progress, export_nquads, ignore_progress, open_output
from motherlode.index.export.void import Statistics, count_statistics, describe
from motherlode.index.page_record import DATASET, OWN_GRAPHS, PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES, XSD, prefixed_name
from motherlode.project import ADDRESS, VERSION

DATA_FILE, VOID_FILE, CROISSANT_FILE, README_FILE = "data.nq.gz", "void.ttl", "croissant.json", "README.md"
_LICENSES = (
    *("http://schema.org/license", "https://schema.org/license", "http://purl.org/dc/terms/license"),
    *("http://creativecommons.org/ns#license", "http://www.w3.org/1999/xhtml/vocab#license"),
)
_MAX_LICENSES = 20
_DCAT = "http://www.w3.org/ns/dcat#"
_FIELDS = ("subject", "predicate", "object", "graph")
_TERM = r'<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:@\S+|\^\^<[^>]*>)?'
"""A term in N-Quads, as our export writes it."""
_CROISSANT_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "recordSet": "cr:recordSet",
    "field": "cr:field",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "source": "cr:source",
    "fileObject": "cr:fileObject",
    "extract": "cr:extract",
    "fileProperty": "cr:fileProperty",
    "transform": "cr:transform",
    "regex": "cr:regex",
}


def export_dataset(
    store: QuadStore,
    folder: Path,
    *,
    parameters: dict[str, Any],
    progress: Progress = ignore_progress,
    without: Collection[str] = (),
) -> int:
    """Write the data set into a folder. Return the number of quads. `parameters` are those of the crawl."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / DATA_FILE
    with open_output(data) as file:
        quads = export_nquads(store, file, progress, without=without)
    found, licenses = count_statistics(store), count_licenses(store)
    triples = [*describe(store, found), *describe_in_dcat(data, licenses)]
    with (folder / VOID_FILE).open("wb") as file:
        ox.serialize(triples, file, format=ox.RdfFormat.TURTLE, prefixes=PREFIXES)
    croissant = describe_in_croissant(data, found, licenses)
    (folder / CROISSANT_FILE).write_text(json.dumps(croissant, indent=2, ensure_ascii=False), encoding="utf-8")
    (folder / README_FILE).write_text(write_readme(quads, found, licenses, parameters), encoding="utf-8")
    return quads


def count_licenses(store: QuadStore) -> Counter[str]:
    """Return the licences that pages state, with the number of pages of each."""
    pages: dict[str, set[str]] = {}
    for predicate in _LICENSES:
        for quad in store.match(predicate=f"<{predicate}>"):
            if isinstance(quad.object, ox.NamedNode | ox.Literal) and str(quad.graph_name)[1:-1] not in OWN_GRAPHS:
                pages.setdefault(quad.object.value, set()).add(str(quad.graph_name))
    return Counter({license: len(found) for license, found in pages.items()})


def describe_in_dcat(data: Path, licenses: Counter[str]) -> Iterator[ox.Triple]:
    """Yield the data set and its file in DCAT. Licences that pages state are mentioned, not claimed for the whole."""
    dataset, file = ox.NamedNode(DATASET), ox.BlankNode("distribution")
    rdf_type = ox.NamedNode(PREFIXES["rdf"] + "type")
    yield ox.Triple(dataset, rdf_type, ox.NamedNode(_DCAT + "Dataset"))
    yield ox.Triple(dataset, ox.NamedNode(_DCAT + "distribution"), file)
    yield ox.Triple(file, rdf_type, ox.NamedNode(_DCAT + "Distribution"))
    yield ox.Triple(file, ox.NamedNode(_DCAT + "downloadURL"), ox.Literal(data.name))
    size = ox.Literal(str(data.stat().st_size), datatype=ox.NamedNode(XSD + "nonNegativeInteger"))
    yield ox.Triple(file, ox.NamedNode(_DCAT + "byteSize"), size)
    media = ox.NamedNode("https://www.iana.org/assignments/media-types/application/n-quads")
    yield ox.Triple(file, ox.NamedNode(_DCAT + "mediaType"), media)
    for license, _ in licenses.most_common(_MAX_LICENSES):
        yield ox.Triple(dataset, ox.NamedNode(PREFIXES["ml"] + "statedLicense"), ox.Literal(license))


def describe_in_croissant(data: Path, found: Statistics, licenses: Counter[str]) -> dict[str, Any]:
    """Return the description in Croissant 1.0, which libraries for machine learning read."""
    digest = hashlib.sha256(data.read_bytes()).hexdigest()
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"quads/{name}",
            "name": name,
            "dataType": "sc:Text",
            "source": {
                "fileObject": {"@id": data.name},
                "extract": {"fileProperty": "lines"},
                "transform": {"regex": rf"^(?:(?:{_TERM}) ){{{position}}}({_TERM}) "},
            },
        }
        for position, name in enumerate(_FIELDS)
    ]
    return {
        "@context": _CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "crawl",
        "description": f"{found.triples:,} statements of {found.documents:,} web pages, crawled with Motherlode.",
        "datePublished": found.last[:10],
        "license": [license for license, _ in licenses.most_common(_MAX_LICENSES)] or "unknown",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": data.name,
                "name": data.name,
                "contentUrl": data.name,
                "contentSize": f"{data.stat().st_size} B",
                "encodingFormat": "application/n-quads+gzip",
                "sha256": digest,
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "quads", "name": "quads", "field": fields}],
    }


def write_readme(quads: int, found: Statistics, licenses: Counter[str], parameters: dict[str, Any]) -> str:
    """Return a README with sizes, classes, properties, licences and the parameters of the crawl."""
    parts = [
        "# Data of a crawl",
        f"{quads:,} quads: {found.triples:,} distinct statements of {found.documents:,} pages, fetched from "
        f"{found.first} to {found.last} with [Motherlode]({ADDRESS}) {VERSION}. The graph of a statement is the URL of "
        f"its page, and the graph `{PROVENANCE}` says when and how each page was fetched.",
        f"| file | content |\n|---|---|\n| `{DATA_FILE}` | all quads, N-Quads |\n"
        f"| `{VOID_FILE}` | description in VoID and DCAT |\n| `{CROISSANT_FILE}` | description in Croissant |",
        _list_counts("Classes", "things", found.classes),
        _list_counts("Properties", "statements", found.properties),
        _list_counts("Licences that pages state", "pages", licenses)
        + "\n\nA licence covers the pages that state it, not the whole data set. Most pages state none.",
        "## Parameters of the crawl\n\n" + "\n".join(f"- `{key}`: `{value}`" for key, value in parameters.items()),
    ]
    return "\n\n".join(parts) + "\n"


def _list_counts(title: str, unit: str, counts: Counter[str], most: int = 20) -> str:
    rows = [f"| `{prefixed_name(name)}` | {count:,} |" for name, count in counts.most_common(most)]
    table = "\n".join([f"| | {unit} |", "|---|--:|", *rows]) if rows else "none"
    return f"## {title}\n\n{table}"
