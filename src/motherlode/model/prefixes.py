"""Prefixes that queries and targets may use without declaring them."""

from __future__ import annotations

PREFIXES = {
    "schema": "http://schema.org/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "prov": "http://www.w3.org/ns/prov#",
    "void": "http://rdfs.org/ns/void#",
    "sioc": "http://rdfs.org/sioc/ns#",
    "ml": "urn:motherlode:vocabulary:",
    "og": "http://ogp.me/ns#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "doap": "http://usefulinc.com/ns/doap#",
    "bibo": "http://purl.org/ontology/bibo/",
    "gr": "http://purl.org/goodrelations/v1#",
    "cc": "http://creativecommons.org/ns#",
    "org": "http://www.w3.org/ns/org#",
    "time": "http://www.w3.org/2006/time#",
    "as": "https://www.w3.org/ns/activitystreams#",
    "dbo": "http://dbpedia.org/ontology/",
    "dbr": "http://dbpedia.org/resource/",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
}
