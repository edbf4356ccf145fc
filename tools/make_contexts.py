"""Make a compact table of a published JSON-LD context, for use without the network.

    python tools/make_contexts.py PUBLISHED.jsonld --name schemaorg --title "schema.org 30.0" --url https://schema.org

The table is written to src/motherlode/transform/jsonld/contexts/NAME.json, and its URLs to index.json beside it. Terms
with the same form of definition are grouped under one definition with a star for the term; other entries are kept as
published. The program checks that the table can be expanded to the published context again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from motherlode.transform.jsonld.context_tables import ContextGroup, ContextTable, fill_definition, normalize_url
from motherlode.transform.jsonld.processor_options import CONTEXT_ENTRIES

CONTEXTS = Path(__file__).resolve().parents[1] / "src" / "motherlode" / "transform" / "jsonld" / "contexts"
MIN_GROUP_TERMS = 8
"""Minimum number of terms of a group; smaller groups save nothing."""
MIN_LAZY_TERMS = 400
"""Minimum number of terms for lazy definition; smaller contexts are defined as a whole."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("published", type=Path, help="the context document as published")
    parser.add_argument("--name", required=True, help="name of the table's file, without extension")
    parser.add_argument("--title", required=True, help="what the context is, and its version")
    parser.add_argument("--url", required=True, action="append", help="a URL of the context; may be repeated")
    options = parser.parse_args(arguments)
    context = json.loads(options.published.read_bytes())["@context"]
    table = make_table(context, title=options.title, urls=options.url)
    if table.expand() != context:
        print("the expanded table differs from the published context", file=sys.stderr)
        return 1
    write(options.name, table)
    print(f"{options.name}: {len(context)} entries, {len(table.groups)} groups, lazy: {table.lazy}")
    return 0


def make_table(context: dict[str, Any], *, title: str, urls: list[str]) -> ContextTable:
    shapes: dict[str, list[str]] = defaultdict(list)
    for term, definition in context.items():
        shape = shape_of(term, definition)
        if shape is not None:
            shapes[shape].append(term)
    groups = [
        ContextGroup(json.loads(shape), " ".join(sorted(terms)))
        for shape, terms in sorted(shapes.items())
        if len(terms) >= MIN_GROUP_TERMS
    ]
    grouped = {term for group in groups for term in group.terms.split()}
    return ContextTable(
        title=title,
        urls=tuple(sorted(set(urls))),
        lazy=is_lazy(context),
        entries={term: definition for term, definition in context.items() if term not in grouped},
        groups=tuple(groups),
    )


def shape_of(term: str, definition: Any) -> str | None:
    """Return the definition with a star for the term as JSON, or None if the IRI does not end with the term."""
    given = definition.get("@id") if isinstance(definition, dict) else definition
    if not isinstance(given, str) or not given.endswith(term) or " " in term or "*" in given or term in CONTEXT_ENTRIES:
        return None
    star = given.removesuffix(term) + "*"
    shape = {**definition, "@id": star} if isinstance(definition, dict) else star
    return json.dumps(shape, sort_keys=True) if fill_definition(shape, term) == definition else None


def is_lazy(context: dict[str, Any]) -> bool:
    """Return whether the context is large and the order of its definitions does not matter."""
    head = CONTEXT_ENTRIES & context.keys()
    scoped = any(isinstance(d, dict) and d.keys() & {"@context", "@protected"} for d in context.values())
    return len(context) >= MIN_LAZY_TERMS and head <= {"@vocab", "@language", "@version"} and not scoped


def write(name: str, table: ContextTable) -> None:
    fields = {"title": table.title, "urls": table.urls, "lazy": table.lazy, "entries": table.entries}
    groups = [{"definition": group.definition, "terms": group.terms} for group in table.groups]
    _dump(CONTEXTS / f"{name}.json", {**fields, "groups": groups})
    index_path = CONTEXTS / "index.json"
    index = json.loads(index_path.read_bytes()) if index_path.exists() else {}
    index = {url: file for url, file in index.items() if file != f"{name}.json"}
    index.update({normalize_url(url): f"{name}.json" for url in table.urls})
    _dump(index_path, dict(sorted(index.items())))


def _dump(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
