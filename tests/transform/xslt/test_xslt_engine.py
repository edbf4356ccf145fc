"""The engine loads no entities, files or URLs, neither for documents nor for stylesheets."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.transform.xslt import xslt_engine as engine
from motherlode.transform.xslt.xslt_engine import _to_schema_date

from .pages import sheet

ENTITY_BOMB = (
    '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)


def text_of(xml: str | bytes) -> str:
    root, _ = engine.read_xml(xml.encode() if isinstance(xml, str) else xml, "http://e.org/")
    return "" if root is None else "".join(root.itertext())


@pytest.mark.parametrize("body", ["<a>&j;</a>", "<a x='&j;'>b</a>", "<a>" + "&d;" * 10_000 + "</a>"])
def test_entities_are_not_expanded(body: str) -> None:
    root, problems = engine.read_xml((ENTITY_BOMB + body).encode(), "http://e.org/")
    assert len(text_of(ENTITY_BOMB + body)) < 10
    assert problems
    assert root is None or len(root.get("x") or "") < 1_000_000


def test_external_entities_and_dtds_are_not_loaded(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<!ENTITY s 'secret'>secret")
    url = secret.as_uri()
    for xml in (
        f'<!DOCTYPE a [<!ENTITY s SYSTEM "{url}">]><a>&s;</a>',
        f'<!DOCTYPE a SYSTEM "{url}"><a>&s;</a>',
        f'<!DOCTYPE a [<!ENTITY % p SYSTEM "{url}"> %p;]><a>&s;</a>',
        f'<a xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="{url}" parse="text"/></a>',
    ):
        assert "secret" not in text_of(xml)


@pytest.mark.parametrize(
    "xml",
    [
        b"",
        b" ",
        b"no xml",
        b"<",
        b"\xff\xfe",
        b"<a>" * 100_000,
        b"<a>" + b"x" * 50_000_000 + b"</a>",
        b"<a>\x00\xff</a>",
    ],
    ids=["empty", "space", "text", "start", "bom", "deep", "long", "bytes"],
)
def test_document_that_is_not_xml_has_faults(xml: bytes) -> None:
    _, problems = engine.read_xml(xml, "http://e.org/")
    assert problems


def test_white_space_before_the_xml_declaration_is_skipped() -> None:
    assert text_of("\n <?xml version='1.0'?><a>x</a>") == "x"


@pytest.mark.parametrize(
    "templates",
    [
        "<xsl:template match='/'><x><xsl:copy-of select=\"document('{url}')\"/></x></xsl:template>",
        "<xsl:template match='/'><x><xsl:copy-of select=\"document('{path}')\"/></x></xsl:template>",
        "<xsl:template match='/'><x><xsl:copy-of select=\"document('http://127.0.0.1:9/')\"/></x></xsl:template>",
        "<xsl:template match='/'><exsl:document href='{out}'>x</exsl:document><x/></xsl:template>",
        "<xsl:template match='/'><xsl:document href='{out}'>x</xsl:document><x/></xsl:template>",
    ],
)
def test_stylesheet_cannot_read_or_write_files(templates: str, tmp_path: Path) -> None:
    secret, out = tmp_path / "secret.xml", tmp_path / "out"
    secret.write_text("<s>secret</s>")
    xslt = sheet(templates.format(url=secret.as_uri(), path=secret, out=out))
    root, _ = engine.read_xml(b"<a/>", "http://e.org/")
    made = b""
    try:
        _, made = engine.apply_sheet(engine.compile_sheet(xslt), root, "http://e.org/")
    except ValueError as error:
        assert "refused" in str(error)
    assert b"secret" not in made
    assert not out.exists()


@pytest.mark.parametrize("element", ["include", "import"])
@pytest.mark.parametrize("scheme", ["{path}", "{url}", "http://127.0.0.1:9/x.xsl", "ftp://127.0.0.1:9/x.xsl"])
def test_stylesheet_cannot_include_or_import_others(element: str, scheme: str, tmp_path: Path) -> None:
    other = tmp_path / "other.xsl"
    other.write_bytes(sheet("<xsl:template match='/'><leak/></xsl:template>"))
    href = scheme.format(path=other, url=other.as_uri())
    with pytest.raises(ValueError, match="may not load"):
        engine.compile_sheet(sheet("", head=f'<xsl:{element} href="{href}"/>'))


def test_entities_in_stylesheets_are_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    xslt = f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'.encode()
    xslt += sheet("<xsl:template match='/'><x>&s;</x></xsl:template>")
    root, _ = engine.read_xml(b"<a/>", "http://e.org/")
    _, made = engine.apply_sheet(engine.compile_sheet(xslt), root, "http://e.org/")
    assert b"secret" not in made


def test_endless_recursion_raises_an_error() -> None:
    root, _ = engine.read_xml(b"<a/>", "http://e.org/")
    transform = engine.compile_sheet(
        sheet("<xsl:template match='/' name='r'><xsl:call-template name='r'/></xsl:template>")
    )
    with pytest.raises(ValueError, match="recursion"):
        engine.apply_sheet(transform, root, "http://e.org/")


def test_to_schema_date_on_examples_gives_expected_values() -> None:
    assert (
        _to_schema_date(None, "Tue, 10 Jun 2003 04:00:00 GMT"),
        _to_schema_date(None, "2003-06-10T04:00+02:00"),
    ) == ("2003-06-10T04:00:00Z", "2003-06-10T04:00:00+02:00")
    assert (
        _to_schema_date(None, "2003-06-10"),
        _to_schema_date(None, "2003-06-31"),
        _to_schema_date(None, "soon"),
    ) == ("2003-06-10", "", "")
