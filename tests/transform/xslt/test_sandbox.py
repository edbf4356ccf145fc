"""The sandbox process: timeout, limits and isolation."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from motherlode.transform.timeouts import ExtractorTimeout, TimeLimit
from motherlode.transform.xslt import xslt_engine as engine
from motherlode.transform.xslt.sandbox import Sandbox

from .pages import URL, constant_sheet, document, extract_document, options_with, sheet

# four nested loops over all elements: hours of work without recursion
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


def test_sandbox_applies_stylesheets_one_after_the_other(sandbox: Sandbox) -> None:
    for word in ("a", "b", "a"):
        made = sandbox.apply(constant_sheet(word), b"<doc/>", URL, seconds=10, most_bytes=10_000)
        assert f">{word}<".encode() in made.body and not made.failure


def test_sandbox_is_killed_at_timeout_and_restarted(sandbox: Sandbox) -> None:
    started = time.monotonic()
    assert "did not end within 1 seconds" in sandbox.apply(SLOW, MANY, URL, seconds=1, most_bytes=10_000).failure
    assert time.monotonic() - started < 50
    assert sandbox.apply(constant_sheet("x"), b"<doc/>", URL, seconds=10, most_bytes=10_000).body


def test_sandbox_is_killed_at_the_time_limit_of_the_page(sandbox: Sandbox) -> None:
    with pytest.raises(ExtractorTimeout), TimeLimit(1):
        sandbox.apply(SLOW, MANY, URL, seconds=60, most_bytes=10_000)
    assert sandbox.apply(constant_sheet("x"), b"<doc/>", URL, seconds=10, most_bytes=10_000).body


def test_sandbox_limits_memory_and_output(sandbox: Sandbox) -> None:
    assert sandbox.apply(GREEDY, MANY, URL, seconds=30, most_bytes=10_000).failure
    made = sandbox.apply(constant_sheet("x" * 20_000), b"<doc/>", URL, seconds=10, most_bytes=10_000)
    assert "more than the limit" in made.failure


def test_sandbox_reports_invalid_stylesheet_and_invalid_document(sandbox: Sandbox) -> None:
    assert "not a stylesheet" in sandbox.apply(b"<x/>", b"<doc/>", URL, seconds=10, most_bytes=10_000).failure
    assert sandbox.apply(constant_sheet("x"), b"no xml", URL, seconds=10, most_bytes=10_000).failure


def test_confined_process_cannot_open_files() -> None:
    probe = "import runpy, sys; e = runpy.run_path(sys.argv[1], run_name='x'); e['_confine'](); open('/dev/null')"
    done = subprocess.run([sys.executable, "-I", "-c", probe, engine.__file__], capture_output=True, check=False)
    assert b"Too many open files" in done.stderr


def test_forked_process_starts_its_own_sandbox(sandbox: Sandbox) -> None:
    assert sandbox.apply(constant_sheet("x"), b"<doc/>", URL, seconds=10, most_bytes=10_000).body
    child = os.fork()
    if child == 0:
        made = sandbox.apply(constant_sheet("y"), b"<doc/>", URL, seconds=10, most_bytes=10_000)
        sandbox.close()
        os._exit(0 if b">y<" in made.body else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert b">z<" in sandbox.apply(constant_sheet("z"), b"<doc/>", URL, seconds=10, most_bytes=10_000).body


def test_engine_imports_only_runtime_of_our_packages() -> None:
    program = f"import sys, {engine.__name__}; print(*(name for name in sys.modules if name.startswith('motherlode.')))"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    packages = {"motherlode.transform", "motherlode.transform.xslt"}
    modules = {"motherlode.project", "motherlode.runtime", engine.__name__}
    assert set(process.stdout.split()) == packages | modules


def test_slow_stylesheet_is_a_problem_of_the_page() -> None:
    found = extract_document(document(MANY), options_with(SLOW, seconds=1.5))
    assert found.statements == ()
    assert "user.xsl: the stylesheet did not end within 1.2 seconds" in found.problems[0].message
