"""Identifiers of things: recognition, check digits, and one spelling for each.

A *strong* identifier names one thing in the whole world: GTIN, ISBN, DOI, ORCID, ROR. A *weak* identifier may belong to
several things: a telephone number to all persons of a shop, a URL to all products that it shows. Placeholders, such as
a GTIN of zeros, and values with a wrong check digit are no identifiers.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from motherlode.www.urls import canonical


class IdentifierKind(StrEnum):
    """The kinds of identifiers that are recognised."""

    GTIN = "gtin"
    DOI = "doi"
    ORCID = "orcid"
    ROR = "ror"
    PHONE = "phone"
    EMAIL = "email"
    URL = "url"
    SAME_AS = "same-as"


STRONG_KINDS = frozenset({IdentifierKind.GTIN, IdentifierKind.DOI, IdentifierKind.ORCID, IdentifierKind.ROR})


class Identifier(NamedTuple):
    """An identifier in its normal spelling."""

    kind: IdentifierKind
    value: str


_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 8, 15
"""Digits of an international telephone number, with the country (ITU-T E.164)."""
_DOI = re.compile(r"(?:https?://(?:dx[.])?doi[.]org/|doi:)?(10[.]\d{4,9}/\S+)", re.IGNORECASE)
_ORCID = re.compile(r"(?:https?://(?:www[.])?orcid[.]org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])/?", re.IGNORECASE)
_ROR = re.compile(r"(?:https?://(?:www[.])?ror[.]org/)?(0[a-hj-km-np-tv-z\d]{6}\d{2})/?", re.IGNORECASE)
_EMAIL = re.compile(r"(?:mailto:)?([^\s@<>,;?]+@[^\s@<>,;?]+[.][^\s@<>,;?]+)", re.IGNORECASE)


def normalize_gtin(text: str) -> str | None:
    """Return a GTIN with 14 digits, from GTIN-8, -12, -13, -14, ISBN-10 or ISBN-13; None if the text is none of these.

    >>> normalize_gtin("4006381333931"), normalize_gtin("0-306-40615-2"), normalize_gtin("978-0-306-40615-7")
    ('04006381333931', '09780306406157', '09780306406157')
    >>> normalize_gtin("4006381333932"), normalize_gtin("0000000000000"), normalize_gtin("1234567890128")
    (None, None, None)
    """
    digits = re.sub(r"[\s-]", "", text).upper().removeprefix("URN:ISBN:").removeprefix("ISBN:").removeprefix("ISBN")
    if re.fullmatch(r"\d{9}[\dX]", digits):
        return _isbn13(digits)
    if not re.fullmatch(r"\d{8}|\d{12,14}", digits) or _is_placeholder(digits):
        return None
    padded = digits.zfill(14)
    return padded if _gs1_check_digit(padded[:-1]) == padded[-1] else None


def _isbn13(isbn10: str) -> str | None:
    total = sum(
        weight * (10 if digit == "X" else int(digit)) for weight, digit in zip(range(10, 0, -1), isbn10, strict=True)
    )
    if total % 11 or _is_placeholder(isbn10[:-1]):
        return None
    body = "978" + isbn10[:-1]
    return "0" + body + _gs1_check_digit("0" + body)


def _gs1_check_digit(body: str) -> str:
    """Return the check digit of a body of 13 digits (GS1 General Specifications, section 7.9)."""
    return str(-sum(int(digit) * (3, 1)[index % 2] for index, digit in enumerate(body)) % 10)


def _is_placeholder(digits: str) -> bool:
    """Return whether the digits were obviously made up: few different ones, or a counted sequence."""
    body = digits.strip("0")[:-1] if digits.strip("0") else ""
    return len(set(body)) < 2 or body in "12345678901234567890" or body in "98765432109876543210"


def normalize_doi(text: str) -> str | None:
    """Return a DOI in small letters without a resolver.

    >>> normalize_doi("https://doi.org/10.1000/ABC.1"), normalize_doi("doi:10.1000/abc.1"), normalize_doi("10.1")
    ('10.1000/abc.1', '10.1000/abc.1', None)
    """
    found = _DOI.fullmatch(text.strip())
    return found[1].lower() if found else None


def normalize_orcid(text: str) -> str | None:
    """Return an ORCID iD with a right check digit (ISO 7064, MOD 11-2).

    >>> normalize_orcid("https://orcid.org/0000-0002-1825-0097"), normalize_orcid("0000-0002-1825-0098")
    ('0000-0002-1825-0097', None)
    """
    found = _ORCID.fullmatch(text.strip())
    if not found:
        return None
    digits = found[1].upper().replace("-", "")
    total = 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return found[1].upper() if digits[-1] == ("X" if check == 10 else str(check)) else None


def normalize_ror(text: str) -> str | None:
    """Return a ROR id in small letters, without its address.

    >>> normalize_ror("https://ror.org/02mhbdp94"), normalize_ror("https://example.org/02mhbdp94")
    ('02mhbdp94', None)
    """
    found = _ROR.fullmatch(text.strip())
    return found[1].lower() if found else None


def normalize_phone(text: str) -> str | None:
    """Return an international telephone number as + and digits; None if its country is not known.

    >>> normalize_phone("tel:+49 (0)30 1234-5678"), normalize_phone("0049 30 12345678"), normalize_phone("030 12345678")
    ('+493012345678', '+493012345678', None)
    """
    number = re.sub(r"^tel:", "", text.strip(), flags=re.IGNORECASE).replace("(0)", "")
    number = re.split(r"(?:ext|x|;)", number, maxsplit=1, flags=re.IGNORECASE)[0]
    if not number.lstrip().startswith(("+", "00")):
        return None
    digits = re.sub(r"\D", "", number)
    digits = digits.removeprefix("00") if number.lstrip().startswith("00") else digits
    if not _MIN_PHONE_DIGITS <= len(digits) <= _MAX_PHONE_DIGITS or _is_placeholder(digits[2:]):
        return None
    return "+" + digits


def normalize_email(text: str) -> str | None:
    """Return an e-mail address in small letters.

    >>> normalize_email("mailto:Info@Example.ORG"), normalize_email("info at example.org")
    ('info@example.org', None)
    """
    found = _EMAIL.fullmatch(text.strip())
    return found[1].lower() if found else None


def normalize_url(text: str) -> str | None:
    """Return a URL for comparison: canonical, without scheme, "www." and the slash at its end.

    The fragment stays, because a page may describe several things that differ only in it.

    >>> [normalize_url(url) for url in ("http://www.Example.org/a/", "https://example.org/a#b", "mailto:a@b.example")]
    ['example.org/a', 'example.org/a#b', None]
    """
    address, _, fragment = text.strip().partition("#")
    url = canonical(address)
    if url is None or not url.startswith(("http://", "https://")):
        return None
    plain = url.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")
    return f"{plain}#{fragment}" if fragment else plain


_SCHEMA = ("http://schema.org/", "https://schema.org/")
_NORMALIZERS: Mapping[IdentifierKind, Callable[[str], str | None]] = {
    IdentifierKind.GTIN: normalize_gtin,
    IdentifierKind.DOI: normalize_doi,
    IdentifierKind.ORCID: normalize_orcid,
    IdentifierKind.ROR: normalize_ror,
    IdentifierKind.PHONE: normalize_phone,
    IdentifierKind.EMAIL: normalize_email,
    IdentifierKind.URL: normalize_url,
    IdentifierKind.SAME_AS: normalize_url,
}
_ANY_STRONG = (IdentifierKind.DOI, IdentifierKind.ORCID, IdentifierKind.ROR, IdentifierKind.GTIN)
_IN_URLS = (IdentifierKind.DOI, IdentifierKind.ORCID, IdentifierKind.ROR)
_KINDS: Mapping[str, tuple[IdentifierKind, ...]] = {
    **{
        namespace + name: (IdentifierKind.GTIN,)
        for namespace in _SCHEMA
        for name in ("gtin", "gtin8", "gtin12", "gtin13", "gtin14", "isbn", "productID")
    },
    **{namespace + "telephone": (IdentifierKind.PHONE,) for namespace in _SCHEMA},
    **{namespace + "email": (IdentifierKind.EMAIL,) for namespace in _SCHEMA},
    **{namespace + "url": (*_IN_URLS, IdentifierKind.URL) for namespace in _SCHEMA},
    **{namespace + "sameAs": (*_IN_URLS, IdentifierKind.SAME_AS) for namespace in _SCHEMA},
    **{namespace + "identifier": _ANY_STRONG for namespace in _SCHEMA},
    "http://www.w3.org/2002/07/owl#sameAs": (*_IN_URLS, IdentifierKind.SAME_AS),
    "http://purl.org/dc/terms/identifier": _ANY_STRONG,
    "http://purl.org/dc/elements/1.1/identifier": _ANY_STRONG,
    "http://xmlns.com/foaf/0.1/mbox": (IdentifierKind.EMAIL,),
    "http://xmlns.com/foaf/0.1/homepage": (IdentifierKind.URL,),
    "http://purl.org/ontology/bibo/doi": (IdentifierKind.DOI,),
    "http://purl.org/ontology/bibo/isbn": (IdentifierKind.GTIN,),
}
"""Kinds of identifiers that the object of a predicate may be, the first that fits."""


def find_identifiers(predicate: str, text: str) -> Iterator[Identifier]:
    """Yield the identifier in the object of a statement, if it is one.

    >>> list(find_identifiers("https://schema.org/gtin13", "4006381333931"))
    [Identifier(kind=<IdentifierKind.GTIN: 'gtin'>, value='04006381333931')]
    """
    for kind in _KINDS.get(predicate, ()):
        value = _NORMALIZERS[kind](text)
        if value:
            yield Identifier(kind, value)
            return
