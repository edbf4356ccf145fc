from __future__ import annotations

import pytest

from motherlode.model import Statement
from motherlode.transform.rdf_documents.rdfxml_attributes import (
    EMPTY_LANGUAGE,
    UNDECLARED_ENTITY,
    UNDECLARED_NAMESPACE,
    encode_identifier,
    restore_statement,
)


def test_identifiers_get_their_names_back() -> None:
    name = encode_identifier("1é".encode()).decode()
    assert name.isascii()
    assert name[0].isalpha()
    given = (f"<http://e.org/#{name}>", "<urn:p>", f"<http://e.org/#{name}>", "")
    assert restore_statement(given) == ("<http://e.org/#1é>", "<urn:p>", "<http://e.org/#1é>", "")
    assert restore_statement(("<urn:a>", "<urn:p>", f'"{name}"', "")) == ("<urn:a>", "<urn:p>", f'"{name}"', "")


@pytest.mark.parametrize(
    "statement",
    [
        (f"<urn:{UNDECLARED_ENTITY}>", "<urn:p>", '"1"', ""),
        ("<urn:a>", f"<urn:{UNDECLARED_ENTITY}p>", '"1"', ""),
        ("<urn:a>", "<urn:p>", f'"1{UNDECLARED_ENTITY}"@en', ""),
        ("<urn:a>", f"<{UNDECLARED_NAMESPACE}67:p>", '"1"', ""),
        ("<urn:a>", "<urn:p>", f'"1"^^<{UNDECLARED_NAMESPACE}>', ""),
    ],
)
def test_what_has_no_meaning_is_no_statement(statement: Statement) -> None:
    assert restore_statement(statement) is None


def test_a_language_that_was_taken_back_is_none() -> None:
    assert restore_statement(("<urn:a>", "<urn:p>", f'"1"@{EMPTY_LANGUAGE}', "")) == ("<urn:a>", "<urn:p>", '"1"', "")


def test_text_may_speak_of_our_names() -> None:
    statement = ("<urn:a>", "<urn:p>", f'"{UNDECLARED_NAMESPACE}"', "")
    assert restore_statement(statement) == statement
