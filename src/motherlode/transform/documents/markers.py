"""What mending writes into a document in place of what a parser would refuse, and what becomes of it in statements."""

from __future__ import annotations

import re

from motherlode.model import Statement
from motherlode.www.iri import check

NO_MEANING = "urn:x-undeclared-prefix:"
"""Namespace of names that have none. No statement with such a name is given."""
NO_TEXT = "\U000efffe"
"""In place of an entity that nobody declared. XML takes it everywhere, even in names, and no text has it, for it stands
for no character. No statement with it is given."""
NO_LANGUAGE = "x-mended-none"
"""In place of a language tag that is empty, which takes back the language that is around it."""
_NO_LANGUAGE_MARK = f"@{NO_LANGUAGE}"
_RENAMED = "x-mended-"
_RENAMED_IRI = re.compile(rf"#{_RENAMED}([0-9a-f]*)>")


def renamed(identifier: bytes) -> bytes:
    """An XML name in place of an identifier that is none."""
    return (_RENAMED + identifier.hex()).encode()


def restored(statement: Statement) -> Statement | None:
    """A statement of a mended document as it was meant; None where a part of it has no meaning.

    >>> restored(("<http://example.org/#x-mended-3162>", "<urn:p>", "<urn:o>", ""))
    ('<http://example.org/#1b>', '<urn:p>', '<urn:o>', '')
    """
    subject, predicate, obj, graph = statement
    if NO_TEXT in subject or NO_TEXT in predicate or NO_TEXT in obj:
        return None
    if NO_MEANING in predicate or (obj[-1] == ">" and NO_MEANING in obj):
        return None
    if obj.endswith(_NO_LANGUAGE_MARK):
        obj = obj.removesuffix(_NO_LANGUAGE_MARK)
    if _RENAMED in subject or _RENAMED in obj:
        subject, obj = _renamed_back(subject), _renamed_back(obj)
    return subject, predicate, obj, graph


def _renamed_back(term: str) -> str:
    if term[0] != "<":
        return term
    renamed_back = _RENAMED_IRI.sub(lambda match: f"#{bytes.fromhex(match[1]).decode(errors='replace')}>", term)
    return check(renamed_back[1:-1]).term
