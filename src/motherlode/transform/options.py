"""What the user may say about transforms. Everything has a default that needs no network and no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from motherlode.model import Syntax

ACCEPT = "application/n-quads, application/n-triples, application/trig, text/turtle, application/rdf+xml;q=0.9"
"""What a service may answer with. JSON-LD is read too, where its context stands in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stylesheet:
    """An XSLT stylesheet of the user's, and the documents that it is for.

    HTML counts as XHTML here: its root is `html` in the namespace http://www.w3.org/1999/xhtml.
    """

    name: str
    """How problems call it: usually the name of its file."""
    xslt: bytes
    """The stylesheet itself. What it makes must be RDF/XML or, with method="text", Turtle."""
    root: str = ""
    """The local name of the root element; "" for any."""
    namespace: str | None = None
    """The namespace of the root element; "" for none, None for any."""

    def __post_init__(self) -> None:
        if not self.root and self.namespace is None:
            raise ValueError(f"the stylesheet {self.name} needs a root element or a namespace to go by")

    def fits(self, namespace: str, root: str) -> bool:
        """Whether it is for documents with this root element.

        >>> Stylesheet(name="a.xsl", xslt=b"", root="report").fits("http://example.org/", "report")
        True
        """
        return self.root in ("", root) and self.namespace in (None, namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A transformation service on the web: it takes content by POST and answers with RDF."""

    media_type: str
    """What it is for: `application/pdf`, or a whole family as `image/*`."""
    url: str
    seconds: float = 10.0
    """How long it may take."""
    most_sent: int = 10_000_000
    """Bytes of the largest content that it is given."""
    most_received: int = 10_000_000
    """Bytes of the longest answer that is read."""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"the service for {self.media_type} needs an http or https URL, not {self.url!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformOptions:
    """Options of the transform phase. Picklable: they travel to the worker processes."""

    syntaxes: frozenset[Syntax] | None = None
    """Only these; None means all."""
    contexts: Mapping[str, bytes] = field(default_factory=dict)
    """Remote JSON-LD contexts that have been fetched, by URL. Any other that is not bundled is wanted, not loaded."""
    context: str = ""
    """The context that a Link header names for a document that is plain JSON without it (JSON-LD 1.1, section 6.1)."""
    strict_jsonld: bool = False
    """Whether IRIs in JSON-LD with characters that none may have cost their statements, as its specification says."""
    seconds: float = 5.0
    """Time limit of one syntax on one page."""
    statements: int = 500_000
    """Most statements that one syntax may give on one page."""
    stylesheets: tuple[Stylesheet, ...] = ()
    """The user's stylesheets. The first that fits a document is applied, in the place of a built-in one."""
    transformations: Mapping[str, bytes] = field(default_factory=dict)
    """The allow-list of GRDDL: the URL of a transformation, a namespace or a profile, and the stylesheet for it."""
    services: tuple[Service, ...] = ()
    """Transformation services. The first that fits a media type is asked."""
    transformers: frozenset[str] | None = None
    """Names of the installed Python transformers that may be used; None means all."""
    max_output_bytes: int = 50_000_000
    """Most bytes that a stylesheet may write for one document."""
