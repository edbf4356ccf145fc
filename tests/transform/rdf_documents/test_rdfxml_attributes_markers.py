from __future__ import annotations

import pytest

from motherlode.model import Statement
from motherlode.transform.rdf_documents.rdfxml_attributes import NO_LANGUAGE, NO_MEANING, NO_TEXT, renamed, restored


def test_identifiers_get_their_names_back() -> None:
    name = renamed("1é".encode()).decode()
    assert name.isascii()
    assert name[0].isalpha()
    given = (f"<http://e.org/#{name}>", "<urn:p>", f"<http://e.org/#{name}>", "")
    assert restored(given) == ("<http://e.org/#1é>", "<urn:p>", "<http://e.org/#1é>", "")
    assert restored(("<urn:a>", "<urn:p>", f'"{name}"', "")) == ("<urn:a>", "<urn:p>", f'"{name}"', "")


@pytest.mark.parametrize(
    "statement",
    [
        (f"<urn:{NO_TEXT}>", "<urn:p>", '"1"', ""),
        ("<urn:a>", f"<urn:{NO_TEXT}p>", '"1"', ""),
        ("<urn:a>", "<urn:p>", f'"1{NO_TEXT}"@en', ""),
        ("<urn:a>", f"<{NO_MEANING}67:p>", '"1"', ""),
        ("<urn:a>", "<urn:p>", f'"1"^^<{NO_MEANING}>', ""),
    ],
)
def test_what_has_no_meaning_is_no_statement(statement: Statement) -> None:
    assert restored(statement) is None


def test_a_language_that_was_taken_back_is_none() -> None:
    assert restored(("<urn:a>", "<urn:p>", f'"1"@{NO_LANGUAGE}', "")) == ("<urn:a>", "<urn:p>", '"1"', "")


def test_text_may_speak_of_our_names() -> None:
    statement = ("<urn:a>", "<urn:p>", f'"{NO_MEANING}"', "")
    assert restored(statement) == statement
