"""Identifiers: check digits by independent computation, spellings, placeholders."""

from __future__ import annotations

import random

import pytest

from motherlode.quality.identifiers import (
    Identifier,
    IdentifierKind,
    find_identifiers,
    normalize_doi,
    normalize_email,
    normalize_gtin,
    normalize_orcid,
    normalize_phone,
    normalize_ror,
    normalize_url,
)

SCHEMA = "https://schema.org/"


def is_gtin(digits: str) -> bool:
    """Check a GTIN from the right: every second digit counts three times, and the sum is a multiple of ten."""
    return sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(reversed(digits))) % 10 == 0


@pytest.mark.parametrize("length", [8, 12, 13, 14])
def test_normalize_gtin_of_random_digits_accepts_exactly_right_check_digits(length: int) -> None:
    draw = random.Random(length)
    for _ in range(200):
        body = "4" + "".join(draw.choice("0123456789") for _ in range(length - 2))
        accepted = [last for last in "0123456789" if normalize_gtin(body + last)]
        assert accepted == [last for last in "0123456789" if is_gtin(body + last)]
        assert normalize_gtin(body + accepted[0]) == (body + accepted[0]).zfill(14)


def test_normalize_gtin_of_isbn_gives_one_spelling() -> None:
    spellings = ["0306406152", "0-306-40615-2", "ISBN 0-306-40615-2", "urn:isbn:9780306406157", "978 0 306 40615 7"]
    assert {normalize_gtin(spelling) for spelling in spellings} == {"09780306406157"}
    assert normalize_gtin("080442957X") == normalize_gtin("9780804429573")


@pytest.mark.parametrize("text", ["", "0000000000000", "1111111111116", "12345678", "0306406153", "abc", "123", "N/A"])
def test_normalize_gtin_of_placeholder_or_error_is_none(text: str) -> None:
    assert normalize_gtin(text) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("http://dx.doi.org/10.1000/182", "10.1000/182"),
        ("DOI:10.1000/Ab", "10.1000/ab"),
        ("10.1000/", None),
        ("https://example.org/10.1000/182", None),
    ],
)
def test_normalize_doi_drops_resolver_and_case(text: str, wanted: str | None) -> None:
    assert normalize_doi(text) == wanted


def test_normalize_orcid_and_ror_check_their_form() -> None:
    assert normalize_orcid("http://www.orcid.org/0000-0002-1694-233x/") == "0000-0002-1694-233X"
    assert normalize_orcid("0000-0002-1694-2330") is None
    assert normalize_ror("https://ror.org/02MHBDP94/") == "02mhbdp94"
    assert normalize_ror("02mhbdil4") is None, "the letters i, l, o and u are not used"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("+1 (212) 555-0187 ext. 12", "+12125550187"),
        ("00 44 20 7946 0018", "+442079460018"),
        ("(212) 555-0187", None),
        ("+1", None),
        ("+49 000 000000", None),
    ],
)
def test_normalize_phone_needs_country(text: str, wanted: str | None) -> None:
    assert normalize_phone(text) == wanted


def test_normalize_email_and_url_compare_without_case_and_scheme() -> None:
    assert normalize_email("mailto:A.B@Example.org") == "a.b@example.org"
    assert normalize_email("a@localhost") is None
    assert normalize_url("HTTP://WWW.example.org:80/a/?b=1") == normalize_url("https://example.org/a/?b=1#")
    assert normalize_url("https://example.org/a#c") == "example.org/a#c"
    assert normalize_url("tel:+1") is None


def test_find_identifiers_takes_first_kind_that_fits() -> None:
    assert list(find_identifiers(SCHEMA + "sameAs", "https://doi.org/10.1000/182")) == [
        Identifier(IdentifierKind.DOI, "10.1000/182")
    ]
    assert list(find_identifiers(SCHEMA + "sameAs", "https://example.org/x")) == [
        Identifier(IdentifierKind.SAME_AS, "example.org/x")
    ]
    assert list(find_identifiers(SCHEMA + "name", "4006381333931")) == []
