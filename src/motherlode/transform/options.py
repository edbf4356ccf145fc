"""Options of the transform phase. The defaults need no network and no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from motherlode.model import Syntax

ACCEPT = "application/n-quads, application/n-triples, application/trig, text/turtle, application/rdf+xml;q=0.9"
"""Formats that a service may return. JSON-LD is accepted if it contains its context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stylesheet:
    """An XSLT stylesheet of the user, and the documents it applies to.

    HTML is treated as XHTML: its root is `html` in the namespace http://www.w3.org/1999/xhtml.
    """

    name: str
    """Name used in problems, usually the file name."""
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
        """Return whether the stylesheet applies to documents with this root element.

        >>> Stylesheet(name="a.xsl", xslt=b"", root="report").fits("http://example.org/", "report")
        True
        """
        return self.root in ("", root) and self.namespace in (None, namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A transformation service on the web. It accepts content by POST and returns RDF."""

    media_type: str
    """Accepted media type: `application/pdf`, or a whole family such as `image/*`."""
    url: str
    seconds: float = 10.0
    """Timeout of a request."""
    most_sent: int = 10_000_000
    """Maximum size of the content in bytes. Larger content is not sent."""
    most_received: int = 10_000_000
    """Maximum size of the response in bytes. A longer response is not read."""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"service for {self.media_type}: give an http or https URL, not {self.url!r}")


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
    """Timeout per syntax and page."""
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
