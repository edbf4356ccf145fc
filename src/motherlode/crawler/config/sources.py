"""The tables `[[sources]]` of a job: a list of providers, each with a sitemap or seeds, a contact and a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from motherlode.crawler.config.host_patterns import complete_url
from motherlode.www.urls import host_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """A provider whose pages are harvested."""

    name: str
    sitemap: Sequence[str] = ()
    """URLs of sitemaps or sitemap indexes. A refresh always visits them, and then pages with a later `lastmod`."""
    seeds: Sequence[str] = ()
    """URLs of pages to start from."""
    contact: str = ""
    """Name or address of the people responsible for the data. It is shown with the figures, and is not sent."""
    pages: int | None = None
    """Budget of requests for new pages, for each host of the source."""

    @property
    def urls(self) -> tuple[str, ...]:
        """All URLs at which the harvest of the source begins."""
        return (*self.sitemap, *self.seeds)

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts of the source, with their ports."""
        return frozenset(host_of(url) for url in self.urls)


def parse_sources(tables: Sequence[Mapping[str, Any]]) -> tuple[SourceSettings, ...]:
    """Return the sources of a job. ValueError names the table that is wrong."""
    sources: list[SourceSettings] = []
    owners: dict[str, str] = {}
    for number, table in enumerate(tables, 1):
        try:
            source = _parse(table)
        except ValueError as error:
            raise ValueError(f"the table [[sources]], number {number}: {error}") from None
        if source.name in (known.name for known in sources):
            raise ValueError(f"two of the [[sources]] have the name {source.name!r}: give each a name of its own")
        for host in sorted(source.hosts):
            if host in owners:
                raise ValueError(f"the [[sources]] {owners[host]!r} and {source.name!r} share {host}: make them one")
            owners[host] = source.name
        sources.append(source)
    return tuple(sources)


def _parse(table: Mapping[str, Any]) -> SourceSettings:
    known = [one.name for one in fields(SourceSettings)]
    if unknown := next((name for name in table if name not in known), ""):
        raise ValueError(f"unknown key {unknown!r}: the keys are {', '.join(known)}")
    name, contact, pages = table.get("name", ""), table.get("contact", ""), table.get("pages")
    if not isinstance(name, str) or not name.strip():
        raise ValueError('name is missing, as in name = "An archive"')
    if not isinstance(contact, str):
        raise ValueError(f"contact must be a text; got {contact!r}")
    if pages is not None and (not isinstance(pages, int) or isinstance(pages, bool) or pages < 1):
        raise ValueError(f"pages must be a number above 0; got {pages!r}")
    sitemap, seeds = (_urls(table.get(key, ()), key) for key in ("sitemap", "seeds"))
    if not sitemap and not seeds:
        raise ValueError(f"{name} needs a sitemap or seeds")
    return SourceSettings(name=name, sitemap=sitemap, seeds=seeds, contact=contact, pages=pages)


def _urls(value: Any, key: str) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{key} must be a URL or a list of URLs; got {value!r}")
    found = []
    for text in texts:
        url = complete_url(text)
        if url is None:
            raise ValueError(f"{key}: {text!r} is not an http or https URL")
        found.append(url)
    return tuple(found)
