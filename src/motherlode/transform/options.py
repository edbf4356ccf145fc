"""Options of the transform phase, their table in a job file, and the transformers that are installed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from motherlode.model import Syntax
from motherlode.transform import xslt

ACCEPT = "application/n-quads, application/n-triples, application/trig, text/turtle, application/rdf+xml;q=0.9"
"""RDF formats that a service may return. JSON-LD is accepted if it contains its context."""
ACCEPT_FROM_SERVICE = f"{ACCEPT}, application/xhtml+xml;q=0.6, text/html;q=0.5, application/xml;q=0.4"
"""Formats that a service may return: RDF, or HTML or XML, which is then transformed like a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stylesheet:
    """An XSLT stylesheet of the user, and the documents it applies to. HTML is treated as XHTML."""

    name: str
    """Name of the stylesheet in the problems that are recorded for a page, usually its file name."""
    xslt: bytes
    """The stylesheet. Its output must be RDF/XML or, with method="text", Turtle."""
    root: str = ""
    """Local name of the root element; "" for any."""
    namespace: str | None = None
    """The namespace of the root element; "" if it has no namespace, None for any."""

    def __post_init__(self) -> None:
        if not self.root and self.namespace is None:
            raise ValueError(f"stylesheet {self.name}: give a root element or a namespace")

    def fits(self, namespace: str, root: str) -> bool:
        """Return whether the stylesheet applies to documents with this root element."""
        return self.root in ("", root) and self.namespace in (None, namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A transformation service on the web. It accepts content by POST and returns RDF, HTML or XML."""

    media_type: str
    """Accepted media type: `application/pdf`, or a whole family such as `image/*`."""
    url: str | tuple[str, ...]
    """Where the service runs: one URL, or several that do the same and share the load."""
    own: bool = False
    """Whether the service is the user's own, so that no delay between requests applies."""
    retries: int = 2
    """Number of further attempts after a failure that may pass, each at another URL if there are several."""
    seconds: float = 10.0
    """Timeout of a request in seconds."""
    most_sent: int = 10_000_000
    """Maximum size of the content in bytes. Larger content is not sent."""
    most_received: int = 10_000_000
    """Maximum size of the response in bytes. A longer response is not read."""

    def __post_init__(self) -> None:
        wrong = [url for url in self.urls if not str(url).startswith(("http://", "https://"))]
        if wrong or not self.urls:
            shown = repr(wrong[0]) if wrong else "an empty list"
            raise ValueError(f"service for {self.media_type}: give an http or https URL, not {shown}")
        if not isinstance(self.own, bool):
            raise ValueError(f"service for {self.media_type}: own must be true or false, not {self.own!r}")
        if not isinstance(self.retries, int) or self.retries < 0:
            raise ValueError(f"service for {self.media_type}: retries must be a whole number from 0 on")

    @property
    def urls(self) -> tuple[str, ...]:
        return (self.url,) if isinstance(self.url, str) else self.url


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformOptions:
    """Options of the transform phase. They can be pickled for worker processes."""

    syntaxes: frozenset[Syntax] | None = None
    """Syntaxes to extract; None for all."""
    contexts: Mapping[str, bytes] = field(default_factory=dict)
    """Fetched remote JSON-LD contexts by URL. Contexts that are neither here nor bundled are reported as missing."""
    context: str = ""
    """URL of the context that a Link header declares for a plain JSON document (JSON-LD 1.1, section 6.1)."""
    strict_jsonld: bool = False
    """Whether JSON-LD statements with invalid IRIs are dropped, as its specification requires, instead of repaired."""
    seconds: float = 5.0
    """Timeout in seconds per syntax and page."""
    statements: int = 500_000
    """Maximum number of statements per syntax and page."""
    stylesheets: tuple[Stylesheet, ...] = ()
    """Stylesheets of the user. The first that applies to a document is used instead of a built-in one."""
    transformations: Mapping[str, bytes] = field(default_factory=dict)
    """Allow-list of GRDDL: stylesheets by the URL of a transformation, namespace or profile."""
    services: tuple[Service, ...] = ()
    """Transformation services. The first that accepts the media type is called."""
    transformers: frozenset[str] | None = None
    """Names of the installed Python transformers that may be used; None for all."""
    max_output_bytes: int = 50_000_000
    """Maximum size of the output of a stylesheet for one document, in bytes."""


# Installed transformers

GROUP = "motherlode.transformers"


@lru_cache(maxsize=1)
def installed_transformers() -> tuple[EntryPoint, ...]:
    """Return the transformers of all installed packages, exact media types before wildcards."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda point: (point.name.count("*"), point.name)))


def allowed_transformers(options: TransformOptions) -> list[EntryPoint]:
    """Return the installed transformers that the options allow."""
    names = options.transformers
    return [point for point in installed_transformers() if names is None or point.name in names]


def transformable_types(options: TransformOptions) -> tuple[str, ...]:
    """Return the media types that only services and transformers can process."""
    return (
        *(service.media_type for service in options.services),
        *(point.name for point in allowed_transformers(options)),
    )


# The `[transform]` table of a job file. Unknown keys are errors

BUILTIN = "builtin:"
_STYLESHEET_KEYS = {"xslt", "root", "namespace"}
_SERVICE_KEYS = {"media_type", "url", "own", "retries", "seconds", "most_sent", "most_received"}


def from_table(table: Mapping[str, Any], load: Callable[[str], bytes], **others: Any) -> TransformOptions:
    """Return the options of a table; raise ValueError if it is wrong. `load` reads a stylesheet by its name.

    >>> options = from_table({"stylesheets": [{"xslt": "builtin:xhtml", "root": "html"}]}, load=lambda name: b"")
    >>> options.stylesheets[0].fits("http://www.w3.org/1999/xhtml", "html")
    True
    """
    _check_keys("[transform]", table, {"stylesheets", "grddl", "services", "transformers", "strict_jsonld"})
    sheets = [_read_stylesheet(entry, load) for entry in _check_tables("stylesheets", table.get("stylesheets", []))]
    allowed = {str(url): _load_stylesheet(str(name), load) for url, name in dict(table.get("grddl", {})).items()}
    services = [_read_service(entry) for entry in _check_tables("services", table.get("services", []))]
    transformers = table.get("transformers")
    if transformers is not None and not isinstance(transformers, list):
        raise ValueError("transformers must be a list of media types")
    strict_jsonld = table.get("strict_jsonld", False)
    if not isinstance(strict_jsonld, bool):
        raise ValueError(f"strict_jsonld must be true or false, not {strict_jsonld!r}")
    return TransformOptions(
        stylesheets=tuple(sheets),
        transformations=allowed,
        services=tuple(services),
        transformers=None if transformers is None else frozenset(map(str, transformers)),
        strict_jsonld=strict_jsonld,
        **others,
    )


def _read_stylesheet(entry: Mapping[str, Any], load: Callable[[str], bytes]) -> Stylesheet:
    _check_keys("[[transform.stylesheets]]", entry, _STYLESHEET_KEYS)
    if "xslt" not in entry:
        raise ValueError("[[transform.stylesheets]] needs the key xslt")
    name = str(entry["xslt"])
    return Stylesheet(
        name=name, xslt=_load_stylesheet(name, load), root=str(entry.get("root", "")), namespace=entry.get("namespace")
    )


def _read_service(entry: Mapping[str, Any]) -> Service:
    _check_keys("[[transform.services]]", entry, _SERVICE_KEYS)
    if missing := {"media_type", "url"} - entry.keys():
        raise ValueError(f"[[transform.services]] needs {' and '.join(sorted(missing))}")
    url = entry["url"]
    return Service(**{**entry, "url": tuple(url) if isinstance(url, list) else url})


def _load_stylesheet(name: str, load: Callable[[str], bytes]) -> bytes:
    if name.startswith(BUILTIN):
        try:
            return xslt.builtin(name.removeprefix(BUILTIN))
        except FileNotFoundError:
            raise ValueError(f"there is no stylesheet {name}; the built-in ones are rss, atom and xhtml") from None
    sheet = load(name)
    if fault := xslt.fault_in(sheet):
        raise ValueError(f"{name}: {fault}")
    return sheet


def _check_tables(name: str, value: Any) -> Iterable[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise ValueError(f"{name} must be a list of tables")
    return value


def _check_keys(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(table.keys() - known):
        raise ValueError(f"{where} does not know {', '.join(unknown)}; its keys are {', '.join(sorted(known))}")
