"""Reading of the [transform] table."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from motherlode.transform.options import Service
from motherlode.transform.xslt import builtin
from motherlode.transform.xslt.transform_settings import from_table

from .pages import constant_sheet

DOCS = Path(__file__).resolve().parents[3] / "docs" / "transforms.md"


def load(name: str) -> bytes:
    return {"a.xsl": constant_sheet("a"), "b.xsl": constant_sheet("b")}.get(name, b"<broken")


def test_table_with_all_keys_is_read() -> None:
    table = tomllib.loads(
        """
        transformers = ["application/pdf"]
        strict_jsonld = true
        [[stylesheets]]
        xslt = "a.xsl"
        root = "report"
        [[stylesheets]]
        xslt = "builtin:xhtml"
        namespace = "http://www.w3.org/1999/xhtml"
        [grddl]
        "http://example.org/t" = "b.xsl"
        [[services]]
        media_type = "image/*"
        url = "http://s.org/"
        seconds = 3.0
        """
    )
    options = from_table(table, load, seconds=7.0)
    assert [(s.name, s.root, s.namespace) for s in options.stylesheets] == [
        ("a.xsl", "report", None),
        ("builtin:xhtml", "", "http://www.w3.org/1999/xhtml"),
    ]
    assert options.stylesheets[1].xslt == builtin("xhtml")
    assert options.transformations == {"http://example.org/t": constant_sheet("b")}
    assert options.services == (Service(media_type="image/*", url="http://s.org/", seconds=3.0),)
    assert (options.transformers, options.seconds) == (frozenset({"application/pdf"}), 7.0)
    assert options.strict_jsonld


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ({"stylesheet": []}, "does not know stylesheet"),
        ({"stylesheets": {}}, "must be a list"),
        ({"stylesheets": [{"root": "x"}]}, "needs the key xslt"),
        ({"stylesheets": [{"xslt": "a.xsl"}]}, "root element or a namespace"),
        ({"stylesheets": [{"xslt": "a.xsl", "rot": "x"}]}, "does not know rot"),
        ({"stylesheets": [{"xslt": "c.xsl", "root": "x"}]}, "c.xsl: not a stylesheet"),
        ({"grddl": {"http://t.org/": "builtin:none"}}, "there is no stylesheet builtin:none"),
        ({"services": [{"url": "http://s.org/"}]}, "needs media_type"),
        ({"services": [{"media_type": "a/b", "url": "s.org"}]}, "http or https"),
        ({"transformers": "application/pdf"}, "must be a list"),
        ({"strict_jsonld": "yes"}, "must be true or false"),
    ],
)
def test_wrong_table_raises_an_error_with_the_reason(table: dict[str, Any], part: str) -> None:
    with pytest.raises(ValueError, match=part):
        from_table(table, load)


def test_example_in_the_documentation_is_valid() -> None:
    (example,) = [part.partition("```")[0] for part in DOCS.read_text().split("```toml\n")[1:2]]
    table = tomllib.loads(example)["transform"]
    options = from_table(table, lambda name: constant_sheet(name))
    assert options.stylesheets and options.transformations and options.services and options.transformers
