"""A folder that can be published as a data set: the quads, a description in VoID and DCAT, Croissant, and a README.

If pyarrow is installed, the folder also has the quads and pages as Parquet files. The description in Croissant names
their columns, so that libraries for machine learning can load them.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from importlib.util import find_spec
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
_CROISSANT_TYPES = (
    ("string", "Text"),
    ("int", "Integer"),
    ("double", "Float"),
    ("bool", "Boolean"),
    ("timestamp", "Date"),
)
"""Start of the name of an Arrow type, and the type of the values in Croissant. Columns of other types are left out."""
_CROISSANT_KEYS = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex"),
    *("repeated", "replace", "samplingRate", "separator", "source", "subField", "transform"),
)
_CROISSANT_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{key: {"@id": f"cr:{key}", "@type": "@json"} for key in ("data", "examples")},
    **{key: f"cr:{key}" for key in _CROISSANT_KEYS},
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
    tables = _export_tables(store, folder, without)
    croissant = describe_in_croissant([data, *tables], found, licenses)
    (folder / CROISSANT_FILE).write_text(json.dumps(croissant, indent=2, ensure_ascii=False), encoding="utf-8")
    (folder / README_FILE).write_text(write_readme(quads, found, licenses, parameters, tables), encoding="utf-8")
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


def _export_tables(store: QuadStore, folder: Path, without: Collection[str]) -> list[Path]:
    """Write the Parquet files if pyarrow is installed. Return their paths."""
    if find_spec("pyarrow") is None:
        return []
    from motherlode.index.export.parquet import export_parquet

    export_parquet(store, folder, without=without)
    return [folder / "quads.parquet", folder / "pages.parquet"]


def describe_in_croissant(files: Sequence[Path], found: Statistics, licenses: Counter[str]) -> dict[str, Any]:
    """Return the description in Croissant 1.0, which libraries for machine learning read."""
    return {
        "@context": _CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "crawl",
        "description": f"{found.triples:,} statements of {found.documents:,} web pages, crawled with Motherlode.",
        "datePublished": found.last[:10],
        "license": [license for license, _ in licenses.most_common(_MAX_LICENSES)] or "unknown",
        "distribution": [_describe_file(file) for file in files],
        "recordSet": [_describe_table(file) for file in files if file.suffix == ".parquet"],
    }


def _describe_file(file: Path) -> dict[str, Any]:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{file.stat().st_size} B",
        "encodingFormat": "application/x-parquet" if file.suffix == ".parquet" else "application/n-quads+gzip",
        "sha256": digest,
    }


def _describe_table(file: Path) -> dict[str, Any]:
    """Return the record set of a Parquet file: its columns that have a type of Croissant."""
    import pyarrow.parquet as pq

    typed = [
        (column.name, kind)
        for column in pq.read_schema(file)
        for start, kind in _CROISSANT_TYPES
        if str(column.type).startswith(start)
    ]
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{file.stem}/{name}",
            "name": name,
            "dataType": f"sc:{kind}",
            "source": {"fileObject": {"@id": file.name}, "extract": {"column": name}},
        }
        for name, kind in typed
    ]
    return {"@type": "cr:RecordSet", "@id": file.stem, "name": file.stem, "field": fields}


def write_readme(
    quads: int, found: Statistics, licenses: Counter[str], parameters: dict[str, Any], tables: Sequence[Path] = ()
) -> str:
    """Return a README with sizes, classes, properties, licences and the parameters of the crawl."""
    parts = [
        "# Data of a crawl",
        f"{quads:,} quads: {found.triples:,} distinct statements of {found.documents:,} pages, fetched from "
        f"{found.first} to {found.last} with [Motherlode]({ADDRESS}) {VERSION}. The graph of a statement is the URL of "
        f"its page, and the graph `{PROVENANCE}` says when and how each page was fetched.",
        f"| file | content |\n|---|---|\n| `{DATA_FILE}` | all quads, N-Quads |\n"
        + "".join(f"| `{table.name}` | {table.stem} as a table |\n" for table in tables)
        + f"| `{VOID_FILE}` | description in VoID and DCAT |\n| `{CROISSANT_FILE}` | description in Croissant |",
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
