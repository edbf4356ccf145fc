"""Shapes and data in Turtle with common prefixes, for tests of validation."""

from __future__ import annotations

from motherlode.quality.page_graph import PageGraph
from motherlode.quality.validation import Result, Validator, parse_triples

PREFIXES = """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."""
S = "http://schema.org/"


def validator_of(shapes: str) -> Validator:
    return Validator.from_turtle(f"{PREFIXES}\n{shapes}".encode())


def graph_of(data: str) -> PageGraph:
    return PageGraph(parse_triples(f"{PREFIXES}\n{data}".encode()))


def results_of(shapes: str, data: str) -> list[Result]:
    return validator_of(shapes).validate(graph_of(data))


def messages_of(shapes: str, data: str) -> list[tuple[str, str]]:
    """Return path and message of each result."""
    return [(result.path, result.message) for result in results_of(shapes, data)]
