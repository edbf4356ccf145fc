from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from motherlode.transform.timeouts import ExtractorTimeout, TimeLimit
from motherlode.transform.xslt import xslt_engine as engine
from motherlode.transform.xslt.sandbox import Sandbox

from .pages import URL, document, options_with, saying, sheet, transformed

# every pair of pairs of elements, four levels deep: hours of work without any recursion
SLOW = sheet(
    """<xsl:template match="/"><rdf:RDF><xsl:for-each select="//*"><xsl:for-each select="//*">
    <xsl:for-each select="//*"><xsl:if test="count(//*[. = current()]) = -1"><x/></xsl:if></xsl:for-each>
    </xsl:for-each></xsl:for-each></rdf:RDF></xsl:template>"""
)
MANY = b"<doc>" + b"<a>x</a>" * 2000 + b"</doc>"
GREEDY = sheet(
    """<xsl:template match="/"><rdf:RDF><xsl:variable name="s" select="str:padding(100000000, 'x')"/>
    <xsl:for-each select="//*"><ex:x><xsl:value-of select="$s"/></ex:x></xsl:for-each></rdf:RDF></xsl:template>"""
)
SHORT = {"seconds": 2.0, "most_bytes": 1_000_000}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    found = Sandbox()
    yield found
    found.close()


def test_applies_stylesheets_one_after_the_other(sandbox: Sandbox) -> None:
    for word in ("a", "b", "a"):
        made = sandbox.apply(saying(word), b"<doc/>", URL, seconds=10, most_bytes=10_000)
        assert f">{word}<".encode() in made.body and not made.failure


def test_is_killed_when_its_time_is_up_and_comes_back(sandbox: Sandbox) -> None:
    started = time.monotonic()
    assert "did not end within 1 seconds" in sandbox.apply(SLOW, MANY, URL, seconds=1, most_bytes=10_000).failure
    assert time.monotonic() - started < 50
    assert sandbox.apply(saying("x"), b"<doc/>", URL, seconds=10, most_bytes=10_000).body


def test_a_ring_of_the_page_s_own_time_limit_kills_it_too(sandbox: Sandbox) -> None:
    with pytest.raises(ExtractorTimeout), TimeLimit(1):
        sandbox.apply(SLOW, MANY, URL, seconds=60, most_bytes=10_000)
    assert sandbox.apply(saying("x"), b"<doc/>", URL, seconds=10, most_bytes=10_000).body


def test_memory_and_output_are_bounded(sandbox: Sandbox) -> None:
    assert sandbox.apply(GREEDY, MANY, URL, seconds=30, most_bytes=10_000).failure
    made = sandbox.apply(saying("x" * 20_000), b"<doc/>", URL, seconds=10, most_bytes=10_000)
    assert "more than the limit" in made.failure


def test_a_stylesheet_that_is_none_is_a_failure(sandbox: Sandbox) -> None:
    assert "not a stylesheet" in sandbox.apply(b"<x/>", b"<doc/>", URL, seconds=10, most_bytes=10_000).failure
    assert sandbox.apply(saying("x"), b"no xml", URL, seconds=10, most_bytes=10_000).failure


def test_the_helper_can_open_nothing() -> None:
    probe = "import runpy, sys; e = runpy.run_path(sys.argv[1], run_name='x'); e['_confine'](); open('/dev/null')"
    done = subprocess.run([sys.executable, "-I", "-c", probe, engine.__file__], capture_output=True, check=False)
    assert b"Too many open files" in done.stderr


def test_a_forked_worker_has_a_helper_of_its_own(sandbox: Sandbox) -> None:
    assert sandbox.apply(saying("x"), b"<doc/>", URL, seconds=10, most_bytes=10_000).body
    child = os.fork()
    if child == 0:
        made = sandbox.apply(saying("y"), b"<doc/>", URL, seconds=10, most_bytes=10_000)
        sandbox.close()
        os._exit(0 if b">y<" in made.body else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert b">z<" in sandbox.apply(saying("z"), b"<doc/>", URL, seconds=10, most_bytes=10_000).body


def test_the_engine_needs_nothing_of_the_package() -> None:
    assert "motherlode" not in Path(engine.__file__).read_text().replace("urn:motherlode:functions", "")


def test_slow_stylesheets_are_problems_of_the_page() -> None:
    found = transformed(document(MANY), options_with(SLOW, seconds=1.5))
    assert found.statements == ()
    assert "user.xsl: the stylesheet did not end within 1.2 seconds" in found.problems[0].message
