"""Options of the transform phase, installed transformers, and the [transform] table."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from motherlode.transform import options
from motherlode.transform.options import Service, Stylesheet, TransformOptions, from_table, transformable_types
from motherlode.transform.xslt import builtin

from .xslt.pages import constant_sheet


def test_transform_options_can_be_pickled() -> None:
    given = TransformOptions(
        stylesheets=(Stylesheet(name="a", xslt=b"x", root="r"),), services=(Service(media_type="a/b", url="http://s/"),)
    )
    assert pickle.loads(pickle.dumps(given)) == given


def test_service_without_http_url_is_rejected() -> None:
    with pytest.raises(ValueError, match="http or https"):
        Service(media_type="a/b", url="file:///etc/passwd")


def test_transform_options_are_all_documented() -> None:
    lines = inspect.getsource(options).splitlines()
    for field in dataclasses.fields(TransformOptions):
        number = next(n for n, line in enumerate(lines) if line.startswith(f"    {field.name}:"))
        assert lines[number + 1].strip().startswith('"""')


@pytest.fixture(autouse=True)
def with_transformers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    points = [EntryPoint(name=name, value="some:thing", group=options.GROUP) for name in ("image/*", "application/pdf")]
    monkeypatch.setattr(options, "entry_points", lambda *, group: points if group == options.GROUP else [])
    options.installed_transformers.cache_clear()
    yield
    options.installed_transformers.cache_clear()


def test_installed_transformers_exact_media_types_come_first() -> None:
    assert [point.name for point in options.installed_transformers()] == ["application/pdf", "image/*"]


def test_transformable_types_include_services_and_allowed_transformers() -> None:
    sound = Service(media_type="audio/*", url="http://127.0.0.1:1/")
    assert transformable_types(TransformOptions(services=(sound,))) == ("audio/*", "application/pdf", "image/*")
    assert transformable_types(TransformOptions(transformers=frozenset({"image/*"}))) == ("image/*",)
    assert transformable_types(TransformOptions(transformers=frozenset())) == ()


DOCS = Path(__file__).resolve().parents[2] / "docs" / "transforms.md"


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
        ({"services": [{"media_type": "a/b", "url": []}]}, "http or https URL, not an empty list"),
        ({"services": [{"media_type": "a/b", "url": ["http://s.org/", "s.org"]}]}, "not 's.org'"),
        ({"services": [{"media_type": "a/b", "url": "http://s.org/", "own": "yes"}]}, "own must be true or false"),
        ({"services": [{"media_type": "a/b", "url": "http://s.org/", "retries": -1}]}, "retries must be a whole"),
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


def test_fits_on_examples_gives_expected_values() -> None:
    assert Stylesheet(name="a.xsl", xslt=b"", root="report").fits("http://example.org/", "report")
