"""The types that cross package borders, the closed sets (enums) that they use, and the protocols between packages.

A URL becomes a `Link` if a page mentions it, a `Request` if the frontier leases it, a `Page` or a `Failure` after the
fetch, `Detected` and `TransformResult` after parsing, and a `Visit` at the end. The types are frozen data. No module
here opens a socket, reads a clock or imports another package of Motherlode. `terms` writes N-Triples terms, and
`sparql` splits queries into tokens and rewrites their ORDER BY clauses.
"""

from motherlode.model.content import (
    DOCUMENT_SYNTAXES,
    ContentKind,
    Detected,
    DetectionEvidence,
    Extraction,
    Problem,
    Statement,
    Syntax,
    Term,
    TransformResult,
)
from motherlode.model.pages import (
    NO_DIRECTIVES,
    ChallengeProduct,
    CrawlerDirectives,
    Failure,
    FailureKind,
    Fetched,
    Fetcher,
    Link,
    LinkSource,
    Page,
    Posting,
    Request,
    RequestKind,
    Visit,
)
from motherlode.model.policy import (
    Combines,
    Explains,
    Explanation,
    Mergeable,
    Outcome,
    Policy,
    Rating,
    Reason,
    Summarizes,
    SummaryLine,
    ValuesArms,
    Waits,
)

__all__ = [
    "DOCUMENT_SYNTAXES",
    "NO_DIRECTIVES",
    "ChallengeProduct",
    "Combines",
    "ContentKind",
    "CrawlerDirectives",
    "Detected",
    "DetectionEvidence",
    "Explains",
    "Explanation",
    "Extraction",
    "Failure",
    "FailureKind",
    "Fetched",
    "Fetcher",
    "Link",
    "LinkSource",
    "Mergeable",
    "Outcome",
    "Page",
    "Policy",
    "Posting",
    "Problem",
    "Rating",
    "Reason",
    "Request",
    "RequestKind",
    "Statement",
    "Summarizes",
    "SummaryLine",
    "Syntax",
    "Term",
    "TransformResult",
    "ValuesArms",
    "Visit",
    "Waits",
]
