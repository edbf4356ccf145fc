"""Detect and transform wired together: from a body to its facts, archives included."""

from __future__ import annotations

from motherlode.detect import detect
from motherlode.model import Facts, Problem
from motherlode.transform import TransformOptions, member_url, members, merge, transform
from motherlode.www.document import Document
from motherlode.www.media import MEDIA

_DEPTH = 2
"""Archives inside archives that are opened."""


def understand(
    body: bytes, *, url: str, content_type: str, options: TransformOptions, depth: int = _DEPTH
) -> tuple[Document, Facts]:
    """The document that a body is, and all facts in it. The members of an archive count as facts of the archive."""
    document = Document(url=url, body=body, detected=detect(body, url=url, content_type=content_type))
    if not MEDIA[document.kind].is_archive:
        return document, transform(document, options)
    if depth == 0:
        return document, Facts(problems=(Problem(syntax=None, message="archive inside archives: not opened"),))
    found: list[Facts] = []
    for member in members(document):
        if isinstance(member, Problem):
            found.append(Facts(problems=(member,)))
        else:
            name, content = member
            inner = understand(content, url=member_url(url, name), content_type="", options=options, depth=depth - 1)
            found.append(inner[1])
    return document, merge(found)
