"""Makes a compact table of a published JSON-LD context, for the contexts that are known without the network.

    python tools/make_contexts.py PUBLISHED.jsonld --name schemaorg --title "schema.org 30.0" --url https://schema.org

The table goes to src/motherlode/transform/jsonld/contexts/NAME.json, and its addresses into index.json beside it.
Terms that are defined in one way are gathered under one definition with a star for the term; the rest is kept as
published. Nothing is lost: putting the table together again gives the published context, and that is checked here.
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
SMALLEST_GROUP = 8
"""Fewer terms than this are shorter as they stand."""
SMALLEST_LAZY = 400
"""Contexts with fewer terms are quick to define as a whole."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("published", type=Path, help="the context document as published")
    parser.add_argument("--name", required=True, help="name of the table's file, without extension")
    parser.add_argument("--title", required=True, help="what the context is, and its version")
    parser.add_argument("--url", required=True, action="append", help="an address of the context; may be repeated")
    options = parser.parse_args(arguments)
    context = json.loads(options.published.read_bytes())["@context"]
    table = make_table(context, title=options.title, urls=options.url)
    rebuilt = put_together(table)
    if rebuilt != context:
        print("the table does not give the published context back", file=sys.stderr)
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
        if len(terms) >= SMALLEST_GROUP
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
    """The definition with a star for the term, as text; None where the term is not the end of its own IRI."""
    given = definition.get("@id") if isinstance(definition, dict) else definition
    if not isinstance(given, str) or not given.endswith(term) or " " in term or "*" in given or term in CONTEXT_ENTRIES:
        return None
    star = given.removesuffix(term) + "*"
    shape = {**definition, "@id": star} if isinstance(definition, dict) else star
    return json.dumps(shape, sort_keys=True) if fill_definition(shape, term) == definition else None


def is_lazy(context: dict[str, Any]) -> bool:
    """Large, and simple enough that a term means the same whenever it is defined."""
    head = CONTEXT_ENTRIES & context.keys()
    scoped = any(isinstance(d, dict) and d.keys() & {"@context", "@protected"} for d in context.values())
    return len(context) >= SMALLEST_LAZY and head <= {"@vocab", "@language", "@version"} and not scoped


def put_together(table: ContextTable) -> dict[str, Any]:
    terms = {term: fill_definition(group.definition, term) for group in table.groups for term in group.terms.split()}
    return {**table.entries, **terms}


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
